"""8-bit linear layers compute what their formula says. Whole models of them: test_packing.py."""

import pytest
import torch

from helpers import greatest_difference
from manyheads.decoding.engines.int8 import Int8Linear
from manyheads.processor import sums_bytes_safely


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
    monkeypatch.setattr("manyheads.decoding.engines.int8.sums_bytes_safely", lambda: safely)
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
