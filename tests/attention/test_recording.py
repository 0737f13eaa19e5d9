"""Recording shows every layer and head, sums to one, and leaves nothing behind."""

import pytest
import torch
import torch.nn.functional as F

from helpers import SPECIAL, batch_of, greatest_difference, tiny
from manyheads.attention import dot_product
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.observer import Observable
from manyheads.attention.recording import record_attention, unobserved
from manyheads.decoding.search.from_source import beam_from_source, greedy_from_source

ROWS = [[4, 5, 6, 7], [8, 9], [10]]
TARGET = torch.tensor([[2, 4, 5, 6], [2, 7, 8, 9], [2, 10, 4, 4]])
LENGTHS = [len(row) + 1 for row in ROWS]


@pytest.fixture
def kernel_calls(monkeypatch):
    """Count the calls of the fused kernel."""
    calls = []
    monkeypatch.setattr(dot_product, "SHORT", 0)  # short sequences would not need the kernel
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k))
    return calls


def forward(model) -> torch.Tensor:
    return model.decode(TARGET, model.encode(batch_of(ROWS))).hidden


def test_every_attention_of_the_model_is_there_under_its_name_with_every_head():
    model = tiny()
    with record_attention(model) as recording:
        forward(model)
    expected = {f"encoder.layers.{layer}.attention": (3, 4, 5, 5) for layer in range(2)}
    expected |= {f"decoder.layers.{layer}.self_attention": (3, 4, 4, 4) for layer in range(2)}
    expected |= {f"decoder.layers.{layer}.cross_attention": (3, 4, 4, 5) for layer in range(2)}
    assert {name: tuple(weights.shape) for name, weights in recording.items()} == expected


def test_weights_sum_to_one_and_are_zero_where_the_mask_forbids():
    model = tiny()
    with record_attention(model) as recording:
        forward(model)
    for name, weights in recording.items():
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5), name
        if "self_attention" in name:
            assert weights.triu(1).abs().max() == 0.0
        else:
            for row, length in enumerate(LENGTHS):
                assert weights[row, :, :, length:].abs().sum() == 0.0
                assert (weights[row, :, :, :length] > 0.0).all()


def test_recording_does_not_change_what_is_computed():
    model = tiny()
    plain = forward(model)
    with record_attention(model):
        recorded = forward(model)
    assert greatest_difference(plain, recorded) < 1e-5


def test_the_fused_kernel_runs_before_and_after_but_not_inside(kernel_calls):
    model = tiny()
    forward(model)
    attentions = sum(isinstance(part, MultiHeadAttention) for part in model.modules())
    assert len(kernel_calls) == attentions
    with record_attention(model):
        forward(model)
    assert len(kernel_calls) == attentions
    forward(model)
    assert len(kernel_calls) == 2 * attentions


def test_an_error_inside_the_block_restores_the_fused_kernel_too(kernel_calls):
    model = tiny()
    with pytest.raises(KeyError), record_attention(model):
        raise KeyError("no reason")
    assert all(part.observer is None for part in model.modules() if isinstance(part, MultiHeadAttention))
    forward(model)
    assert kernel_calls


def test_what_is_recorded_holds_no_graph():
    model = tiny()
    with record_attention(model) as recording:
        forward(model)
    assert not any(weights.requires_grad for weights in recording.values())


def test_decoding_steps_are_joined_into_what_decode_records():
    model = tiny()
    memory = model.encode(batch_of(ROWS))
    with record_attention(model) as whole:
        model.decode(TARGET, memory)
    state = model.start(memory)
    with record_attention(model) as steps:
        for column in TARGET.T:
            _, state = model.step(column, state)
    assert whole.keys() == steps.keys()
    for name in whole:
        assert greatest_difference(whole[name], steps[name]) < 1e-5


@pytest.mark.parametrize("search", [greedy_from_source, beam_from_source])
def test_a_search_of_several_sentences_can_be_recorded(search):
    model, source = tiny(), batch_of(ROWS)
    options = {"special": SPECIAL, "limits": [3, 6, 9]}  # the sentences leave the batch one after the other
    plain = search(model, source, **options)
    with record_attention(model) as recording:
        recorded = search(model, source, **options)
    assert [_tokens(one) for one in recorded] == [_tokens(one) for one in plain]
    assert recording["encoder.layers.0.attention"].shape == (3, 4, 5, 5)
    assert "decoder.layers.1.cross_attention" in recording


def _tokens(found) -> list[int]:
    return (found[0] if isinstance(found, list) else found).tokens


def test_a_shorter_second_source_does_not_cut_off_what_the_first_looked_at():
    model = tiny()
    with record_attention(model) as recording:
        model.encode(batch_of([[4, 5, 6, 7, 8]]))
        model.encode(batch_of([[9]]))
    for name, weights in recording.items():
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5), name


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_nested_blocks_all_record_and_the_outer_one_goes_on():
    model = tiny()
    with record_attention(model) as expected:
        forward(model)
    with record_attention(model) as outer:
        with record_attention(model) as inner:
            forward(model)
        assert same(inner, expected)
        assert same(outer, expected)
        forward(model)
    assert same(inner, expected)
    for name, weights in expected.items():
        assert torch.equal(outer[name], torch.cat((weights, weights), dim=-2)), name


def test_a_block_around_a_part_records_that_part_inside_a_block_around_the_model():
    model = tiny()
    with record_attention(model) as outer, record_attention(model.encoder) as inner:
        forward(model)
    assert inner.keys() == {"layers.0.attention", "layers.1.attention"}
    for name, weights in inner.items():
        assert torch.equal(outer[f"encoder.{name}"], weights)


def test_after_an_inner_block_each_part_has_its_former_observer_even_after_an_error():
    attention = MultiHeadAttention(8, 2)
    attention.observer = observer = lambda weights: None
    with record_attention(attention):
        assert attention.observer is not observer
    assert attention.observer is observer
    with pytest.raises(KeyError), record_attention(attention):
        raise KeyError("no reason")
    assert attention.observer is observer


def test_no_block_records_what_is_unobserved():
    model = tiny()
    with record_attention(model) as outer, record_attention(model) as inner:
        with unobserved(model) as observed:
            forward(model)
        assert observed
        assert not outer and not inner
        forward(model)
    assert outer and same(outer, inner)
    with unobserved(model) as observed:
        assert not observed


class Pointer(Observable):
    """An attention that is not multi-head: one query after the other over given states."""

    def forward(self, queries: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        weights = (queries @ states.transpose(-2, -1)).softmax(dim=-1)
        if self.observer is not None:
            self.observer(weights[:, None])
        return weights @ states


def test_whatever_is_observable_is_recorded():
    model = torch.nn.ModuleDict({"pointer": Pointer(), "heads": MultiHeadAttention(8, 2)})
    queries, states = torch.randn(2, 3, 5, 8)
    with record_attention(model) as recording:
        outputs = model["pointer"](queries, states)
    assert recording.keys() == {"pointer"}
    assert torch.equal(recording["pointer"][:, 0] @ states, outputs)
