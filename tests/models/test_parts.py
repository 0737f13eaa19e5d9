"""Which attention and positions go together, and what a linear attention remembers. The laws are in `laws.py`."""

import pytest
import torch

from helpers import VOCABULARY, batch_of, greatest_difference, stir, tiny_settings
from manyheads.attention.kernel import Sums
from manyheads.attention.recording import record_attention
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.models.transformer import Transformer

ATTENTION = {
    "performer": {"kind": "performer", "features": 12},
    "linear": {"kind": "linear"},
    "hashing": {"kind": "hashing", "chunk": 64},
}
CLOSE = 2e-5
REFUSED = [(name, kind) for name in ATTENTION for kind in ("relative", "t5", "alibi")]


def build(name: str, kind: str) -> Transformer:
    shape = tiny_settings(attention=ATTENTION[name], positions={"kind": kind}, tie="none")
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return stir(model, seed=5, gain=1.5).eval()


@pytest.mark.parametrize("name", ["performer", "linear"])
def test_sums_are_all_that_is_remembered(name):
    model = build(name, "sinusoidal")
    sizes = []
    with torch.inference_mode():
        state = model.start(model.encode(batch_of([[4, 5]])))
        for _ in range(9):
            _, state = model.step(torch.tensor([4]), state)
            assert all(isinstance(cache, Sums) for cache in state.caches)
            sizes.append(sum(cache.products.numel() for cache in state.caches))
    assert len(set(sizes)) == 1


@pytest.mark.parametrize("name", ["performer", "linear"])
def test_steps_that_were_recorded_from_the_first_one_on_can_go_on_unrecorded(name):
    model, written = build(name, "sinusoidal"), torch.tensor([[2, 4, 5, 6], [2, 7, 8, 9]])
    with torch.inference_mode():
        memory = model.encode(batch_of([[4, 5], [6]]))
        state = model.start(memory)
        with record_attention(model):
            for column in written.T[:2]:
                _, state = model.step(column, state)
        _, state = model.step(written[:, 2], state.select(torch.tensor([0, 1])))
        found, _ = model.step(written[:, 3], state)
        expected = model.logits(model.decode(written, memory).hidden)[:, -1]
    assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


@pytest.mark.parametrize("name", ["performer", "linear"])
def test_weights_over_a_past_of_which_only_sums_are_left_are_refused(name):
    model = build(name, "sinusoidal")
    with torch.inference_mode():
        _, state = model.step(torch.tensor([2]), model.start(model.encode(batch_of([[4, 5]]))))
        with record_attention(model), pytest.raises(ManyheadsError, match="Record from the first step"):
            model.step(torch.tensor([4]), state)


@pytest.mark.parametrize(("name", "kind"), REFUSED)
def test_pairs_that_cannot_be_are_refused_with_the_reason(name, kind):
    with pytest.raises(ManyheadsError, match=f"{kind} positions add to each score, but {name} attention"):
        build_recipe(recipe(attention=ATTENTION[name], positions={"kind": kind}))


def recipe(**model) -> dict:
    return {"name": "x", "data": {"train": {"task": "copy"}}, "model": {"width": 16, "heads": 4, **model}}


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"attention": {"kind": "linformer"}}, "a decoder cannot have it"),
        ({"attention": {"kind": "window", "window": 0}}, "attention.window"),
        ({"attention": {"kind": "linear", "window": 3}}, "`window` is for window attention, not for linear"),
        ({"attention": {"kind": "linformer", "rank": 9, "length": 8}}, "rank 9 is above the length of 8"),
        ({"attention": {"kind": "performer"}, "width": 18}, "width 18 is not divisible by 4 heads"),
        ({"attention": {"kind": "windows"}}, "window"),
        (
            {"attention": {"kind": "linformer"}, "decoder_attention": {}, "positions": {"kind": "t5"}},
            "mixtures of keys",
        ),
    ],
)
def test_what_cannot_be_is_refused(model, told):
    with pytest.raises(ManyheadsError, match=told):
        build_recipe(recipe(**model))


def test_an_encoder_may_have_what_a_decoder_cannot():
    shape = tiny_settings(attention={"kind": "linformer", "length": 16, "rank": 4}, decoder_attention={})
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY).eval()
    with torch.inference_mode():
        assert model.decode(torch.tensor([[2, 4]]), model.encode(batch_of([[4, 5, 6]]))).hidden.isfinite().all()
