"""Randomised positions: in training some of many, in order; afterwards the positions themselves."""

import pytest
import torch
from torch import nn

from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.layers.embedding import Embedding
from manyheads.models.transformer import Transformer
from manyheads.positions.randomised import sampled_in_order

PLACES = torch.arange(50.0)[:, None]  # each row says where it stands


def test_what_is_drawn_is_in_order_and_different():
    torch.manual_seed(1)
    for count in (1, 7, 50):
        places = sampled_in_order(PLACES, count)[:, 0]
        assert len(places) == count
        assert (places.diff() > 0).all()


def test_every_position_is_drawn_as_often_as_any_other():
    torch.manual_seed(1)
    times = sum(torch.zeros(50).index_fill(0, sampled_in_order(PLACES, 5)[:, 0].long(), 1) for _ in range(2000))
    expected, deviation = 2000 * 5 / 50, (2000 * 0.1 * 0.9) ** 0.5
    assert (times - expected).abs().max() < 5 * deviation


def test_more_than_there_are_is_refused_with_the_key():
    with pytest.raises(ManyheadsError, match=r"51 tokens .* 50 positions") as error:
        sampled_in_order(PLACES, 51)
    assert error.value.where == "model.positions.randomised"


def test_only_training_draws():
    embedding = Embedding(nn.Parameter(torch.zeros(5, 1)), lambda a, b: PLACES[a:b], dropout=0.0, randomised=50)
    tokens = torch.zeros(1, 4, dtype=torch.long)
    assert len({tuple(embedding(tokens)[0, :, 0].tolist()) for _ in range(20)}) > 1
    assert embedding.eval()(tokens, start=3)[0, :, 0].tolist() == [3, 4, 5, 6]


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_a_recipe_asks_for_them(kind):
    positions = {"kind": kind, "randomised": 300}
    recipe = build_recipe({"name": "x", "data": {"train": {"task": "copy"}}, "model": {"positions": positions}})
    model = Transformer.from_settings(recipe.model, source_vocabulary=9, target_vocabulary=9)
    assert (model.source.randomised, model.target.randomised) == (300, 300)


@pytest.mark.parametrize(
    ("positions", "told"),
    [
        ({"kind": "rotary", "randomised": 300}, "for sinusoidal and learned positions, not for rotary"),
        ({"kind": "learned", "maximum": 64, "randomised": 300}, "randomised 300 is above the maximum of 64"),
        ({"randomised": 64}, "model.positions.randomised.*64.*data.max_length.*100"),
    ],
)
def test_what_cannot_be_is_refused(positions: dict, told: str):
    data = {"train": {"task": "copy"}, "max_length": 100}
    with pytest.raises(ManyheadsError, match=told):
        build_recipe({"name": "x", "data": data, "model": {"positions": positions}})
