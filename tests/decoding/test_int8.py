"""8-bit linear layers compute what their formula says, and a whole model with them stays close to itself."""

import copy

import pytest
import torch

from helpers import VOCABULARY, batch_of, greatest_difference, tiny
from manyheads.attention.recording import record_attention
from manyheads.decoding.int8 import Int8Attention, Int8Linear, with_int8_linears
from manyheads.processor import sums_bytes_safely

ROWS = [[4, 5, 6], [7], [8, 9, 10, 4, 4]]


def rounded(inputs: torch.Tensor, levels: int) -> torch.Tensor:
    """Put inputs on levels of equal width from the least (or 0) to the greatest (or 0), one of which is 0 itself."""
    low, high = inputs.min().clamp(max=0.0), inputs.max().clamp(min=0.0)
    width = (high - low) / levels
    zero = (-low / width).round()
    return ((inputs / width + zero).round().clamp(0, levels) - zero) * width


@pytest.mark.parametrize("safely", [sums_bytes_safely(), False])
@pytest.mark.parametrize("bias", [None, torch.linspace(-1, 1, 24)])
def test_the_product_is_that_of_rounded_weights_and_rounded_inputs(
    bias: torch.Tensor | None, safely: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("manyheads.decoding.int8.sums_bytes_safely", lambda: safely)
    generator = torch.Generator().manual_seed(3)
    weight = torch.randn(24, 16, generator=generator) * torch.linspace(0.01, 4, 24)[:, None]
    inputs = torch.randn(2, 5, 16, generator=generator)
    scales = weight.abs().amax(dim=1, keepdim=True) / 127
    expected = rounded(inputs, 255 if safely else 127) @ ((weight / scales).round() * scales).T + (
        0 if bias is None else bias
    )
    found = Int8Linear(weight, bias)(inputs)
    assert found.shape == (2, 5, 24)
    assert greatest_difference(found, expected) < 1e-4


def test_a_row_of_zeros_stays_zero():
    found = Int8Linear(torch.zeros(3, 8), None)(torch.randn(2, 8))
    assert found.abs().max() == 0.0


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_model_stays_close_to_itself(norm: str):
    exact = tiny(norm)
    rough = with_int8_linears(copy.deepcopy(exact))
    source, target = batch_of(ROWS), torch.tensor([[2, 4, 5], [2, 9, 8], [2, 7, 7]])
    with torch.inference_mode():
        wanted, found = (one.logits(one.decode(target, one.encode(source))) for one in (exact, rough))
    assert found.shape == (3, 3, VOCABULARY)
    error = (found - wanted).norm() / wanted.norm()
    assert 0 < error < 0.05


def test_every_attention_is_replaced_and_can_still_be_recorded():
    rough = with_int8_linears(copy.deepcopy(tiny()))
    kinds = {type(part) for part in rough.modules()}
    assert Int8Attention in kinds
    assert torch.nn.Linear not in kinds
    with torch.inference_mode(), record_attention(rough) as recording:
        rough.decode(torch.tensor([[2, 4]]), rough.encode(batch_of([[4, 5]])))
    assert len(recording) == 2 + 2 * 2
    for weights in recording.values():
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5)
