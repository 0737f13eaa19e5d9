"""Dropout drops as often as it says, scales what survives, and passes gradients through the same mask."""

import math

import pytest
import torch

import helpers  # noqa: F401 (one thread)
from manyheads.layers.dropout import Dropout, keep_mask

COUNT = 400_000
SIGMAS = 5.0  # a fair mask stays within this many standard deviations but once in two million draws
LEVELS = 65_536  # a probability is exact to one part in this many


def exact(probability: float) -> float:
    """Return the nearest probability that a 16-bit number can decide."""
    return round(probability * LEVELS) / LEVELS


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_the_share_of_the_dropped_is_binomial(probability):
    torch.manual_seed(1)
    dropped = int((Dropout(probability)(torch.ones(COUNT)) == 0.0).sum())
    p = exact(probability)
    assert abs(dropped - COUNT * p) < SIGMAS * math.sqrt(COUNT * p * (1 - p))


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_survivors_are_scaled_so_that_the_expectation_stays(probability):
    torch.manual_seed(1)
    out = Dropout(probability)(torch.full((COUNT,), 3.0))
    keep = 1 - exact(probability)
    assert out[out != 0.0].unique().tolist() == pytest.approx([3.0 / keep])
    spread = 3.0 * math.sqrt((1 - keep) / keep)  # of one element around 3
    assert abs(float(out.double().mean()) - 3.0) < SIGMAS * spread / math.sqrt(COUNT)


def test_elements_that_share_a_draw_are_independent():
    torch.manual_seed(1)
    kept = (keep_mask(torch.empty(COUNT), 0.3) != 0.0).double().view(-1, 4)  # four elements per draw
    rates = kept.mean(dim=0)
    p = 1 - exact(0.3)
    assert (rates - p).abs().max() < SIGMAS * math.sqrt(p * (1 - p) / len(kept))
    correlations = torch.corrcoef(kept.T) - torch.eye(4)
    assert correlations.abs().max() < SIGMAS / math.sqrt(len(kept))


@pytest.mark.parametrize("shape", [(1,), (3,), (5, 7), (2, 3, 5), (0,)])
def test_any_shape_is_kept(shape):
    assert Dropout(0.5)(torch.ones(shape)).shape == shape


def test_a_transposed_input_is_masked_like_any_other():
    torch.manual_seed(1)
    inputs = torch.arange(1.0, 13.0).view(3, 4).t()
    out = Dropout(0.5)(inputs)
    assert ((out == 0.0) | (out == 2.0 * inputs)).all()
    assert (out == 0.0).any() and (out != 0.0).any()


def test_the_gradient_passes_through_the_same_mask():
    torch.manual_seed(1)
    inputs = torch.randn(50, 20).requires_grad_()
    upstream = torch.randn(50, 20)
    out = Dropout(0.4)(inputs)
    out.backward(upstream)
    mask = (out / inputs).detach()
    assert torch.allclose(inputs.grad, upstream * mask, rtol=1e-5)
    assert (mask == 0.0).any() and (mask != 0.0).any()


def test_outside_training_and_at_zero_it_is_the_identity():
    inputs = torch.randn(10)
    assert Dropout(0.5).eval()(inputs) is inputs
    assert Dropout(0.0)(inputs) is inputs


def test_the_seed_decides_the_mask():
    dropout, inputs = Dropout(0.5), torch.ones(1000)

    def draw(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return dropout(inputs)

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    torch.manual_seed(1)
    assert not torch.equal(dropout(inputs), dropout(inputs))  # one call after the other
