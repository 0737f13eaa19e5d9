"""BERT: order and segments matter, both directions are seen, heads have their shapes. The laws are in `laws.py`."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, VOCABULARY, greatest_difference, stir, words
from manyheads.attention.longformer import LongformerAttention
from manyheads.attention.recording import record_attention
from manyheads.config.messages import build
from manyheads.config.models.bert import BertSettings
from manyheads.errors import ManyheadsError
from manyheads.models.bert import BertModel
from manyheads.models.interface import EncoderInputs

CLOSE = 1e-5


def settings(**changes) -> BertSettings:
    sizes = {"width": 16, "heads": 4, "layers": 2, "feed_forward": 32, "positions": 60, "word_head": True}
    return BertSettings(**{**sizes, **changes})


@pytest.fixture(scope="module")
def model() -> BertModel:
    built = BertModel.from_settings(settings(), vocabulary=VOCABULARY)
    return stir(built, seed=4).eval()


def inputs_of(rows: list[list[int]], *, width: int = 0, filler: int = 0, segment: int = 0) -> EncoderInputs:
    width = max(width, *map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return EncoderInputs(ids, mask, torch.full_like(ids, segment))


@LAW
@given(row=st.lists(words, min_size=3, max_size=6), other=words)
def test_every_token_sees_both_directions(model, row, other):
    with torch.inference_mode():
        before = model(inputs_of([row]))[0]
        after = model(inputs_of([[*row[:-1], other]]))[0]
    assert (greatest_difference(before[0], after[0]) > 1e-4) == (row[-1] != other)


@LAW
@given(row=st.lists(words, min_size=2, max_size=6, unique=True))
def test_order_and_segment_matter(model, row):
    with torch.inference_mode():
        states = model(inputs_of([row]))[0]
        assert greatest_difference(model(inputs_of([row[::-1]]))[0].flip(0), states) > 1e-3
        assert greatest_difference(model(inputs_of([row], segment=1))[0], states) > 1e-3


def test_fresh_weights_are_the_originals():
    torch.manual_seed(1)
    fresh = BertModel.from_settings(settings(width=64, feed_forward=256), vocabulary=500)
    for name, parameter in fresh.state_dict().items():
        if parameter.dim() > 1:
            assert abs(float(parameter.std()) - 0.02) < 0.004, name
        else:
            assert float(parameter.min()) == float(parameter.max()) == (1.0 if "norm.weight" in name else 0.0), name


def test_the_epsilon_reaches_every_norm():
    model = BertModel.from_settings(settings(norm_epsilon=1e-7), vocabulary=VOCABULARY)
    norms = [part for part in model.modules() if isinstance(part, torch.nn.LayerNorm)]
    assert len(norms) == 2 + 2 * 2
    assert {norm.eps for norm in norms} == {1e-7}


def test_the_heads_have_their_shapes(model):
    with torch.inference_mode():
        states = model(inputs_of([[5, 6, 7], [8]]))
        assert model.pooler(states).shape == (2, 16)
        assert model.word_logits(states[0]).shape == (3, VOCABULARY)


def test_its_attention_can_be_recorded(model):
    with torch.inference_mode(), record_attention(model) as recording:
        model(inputs_of([[5, 6, 7], [8]]))
    assert set(recording) == {f"encoder.layers.{i}.attention" for i in range(2)}
    weights = recording["encoder.layers.0.attention"]
    assert weights.shape == (2, 4, 3, 3)
    assert float(weights[1, :, :, 1:].abs().max()) == 0.0


def test_what_is_longer_than_its_positions_is_refused():
    model = BertModel.from_settings(settings(positions=4), vocabulary=VOCABULARY)
    with pytest.raises(ManyheadsError, match="longer than the 4 positions"):
        model(inputs_of([[5] * 5]))


def test_a_window_with_global_tokens_has_projections_of_their_own():
    for global_tokens in (0, 1):
        attention = {"kind": "window", "window": 2, "global_tokens": global_tokens}
        model = BertModel.from_settings(settings(attention=attention), vocabulary=VOCABULARY)
        assert any(isinstance(part, LongformerAttention) for part in model.modules()) == bool(global_tokens)


def test_linformer_must_reach_as_far_as_the_positions():
    with pytest.raises(ManyheadsError, match=r"attention.length 32 is below the 48 positions"):
        build(BertSettings, {"positions": 48, "attention": {"kind": "linformer", "length": 32, "rank": 8}}, origin="x")
