"""Switching heads off: only inside the block, nested, in searches, and a sentence for heads that do not exist."""

import copy

import pytest
import torch

import manyheads
from helpers import SPECIAL, batch_of, greatest_difference, tiny
from manyheads.attention.recording import record_attention
from manyheads.attention.switching import switch_off
from manyheads.decoding.engines.packing import PackedLinear, can_pack, with_linears
from manyheads.decoding.search.from_source import greedy_from_source
from manyheads.errors import ManyheadsError

CROSS = "decoder.layers.0.cross_attention"
ROWS = [[4, 5, 6, 7], [8, 9]]
TARGET = torch.tensor([[2, 4, 5, 6], [2, 7, 8, 9]])


def forward(model) -> torch.Tensor:
    with torch.inference_mode():
        return model.decode(TARGET, model.encode(batch_of(ROWS))).hidden


def test_without_all_heads_only_the_bias_is_left():
    attention = tiny().get_submodule(CROSS)
    inputs = torch.randn(2, 3, attention.width)
    with torch.inference_mode(), switch_off(attention, {"": range(1, 5)}):
        outputs = attention.across(inputs, attention.keys_values(inputs), tiny().encode(batch_of([[4, 5]] * 2)).mask)
    assert torch.equal(outputs, attention.output.bias.expand_as(outputs))


def test_blocks_nest_and_restore_even_after_an_error():
    model = tiny()
    plain = forward(model)
    with switch_off(model, {CROSS: [1, 3]}):
        both = forward(model)
    with switch_off(model, {CROSS: [1]}):
        first = forward(model)
        with pytest.raises(KeyError), switch_off(model, {CROSS: [3]}):
            assert torch.equal(forward(model), both)
            raise KeyError("no reason")
        assert torch.equal(forward(model), first)
    assert torch.equal(forward(model), plain)
    assert not torch.equal(first, both) and not torch.equal(first, plain)


def test_what_a_head_that_is_off_looks_at_is_still_recorded():
    model = tiny()
    with record_attention(model) as expected:
        forward(model)
    with switch_off(model, {CROSS: [1]}), record_attention(model) as recording:
        forward(model)
    assert torch.equal(recording[CROSS], expected[CROSS])


def test_a_search_has_no_such_heads_either():
    model, source = tiny(), batch_of(ROWS)
    with switch_off(model, {CROSS: [1, 2, 3, 4]}):
        found = greedy_from_source(model, source, special=SPECIAL, limits=[6, 6])
        for row, one in zip(ROWS, found, strict=True):
            read = torch.tensor([[SPECIAL.start, *one.tokens[:-1]]])
            with torch.inference_mode():
                likely = model.logits(model.decode(read, model.encode(batch_of([row]))).hidden).log_softmax(dim=-1)[0]
            total = likely.gather(1, torch.tensor(one.tokens)[:, None]).sum()
            assert one.log_probability == pytest.approx(float(total), abs=1e-4)


@pytest.mark.skipif(not can_pack(), reason="this build of PyTorch has no packed weights")
def test_packed_attentions_have_switches_too():
    model = with_linears(copy.deepcopy(tiny()), PackedLinear)
    plain = forward(model)
    with switch_off(model, {CROSS: [2]}):
        packed = forward(model)
    with switch_off(tiny(), {CROSS: [2]}):
        assert greatest_difference(packed, forward(tiny())) < 1e-5
    assert greatest_difference(packed, plain) > 1e-3


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ({"decoder.layers.0.cross_atention": [1]}, f"no multi-head attention.*Did you mean '{CROSS}'"),
        ({"decoder": [1]}, "no multi-head attention 'decoder'"),
        ({CROSS: [0]}, f"{CROSS}: there is no head 0. Heads are counted from 1: it has 4"),
        ({CROSS: [1, 5]}, "no head 5"),
    ],
)
def test_heads_that_do_not_exist_get_a_sentence_and_nothing_is_switched(heads, message):
    model = tiny()
    plain = forward(model)
    with pytest.raises(ManyheadsError, match=message), switch_off(model, {"encoder.layers.0.attention": [1], **heads}):
        pass
    assert torch.equal(forward(model), plain)


def test_the_package_offers_it():
    assert manyheads.switch_off is switch_off
