"""The smoothed loss equals its equation, and the chunked one with the output layer inside equals it everywhere."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from helpers import LAW
from manyheads.tasks import loss as losses
from manyheads.tasks.loss import fused_loss, smoothed_loss

ROWS, WIDTH, CLASSES = 7, 5, 6


def test_smoothing_equals_a_value_by_hand():
    """Three classes of probability 1/2, 1/4, 1/4; ε = 0.1 leaves 0.9 for the truth and 0.1 / 2 for each other."""
    logits = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log() + 7.0  # a constant changes nothing
    first = -(0.9 * math.log(1 / 2) + 0.05 * math.log(1 / 4) + 0.05 * math.log(1 / 4))
    second = -(0.05 * math.log(1 / 2) + 0.9 * math.log(1 / 4) + 0.05 * math.log(1 / 4))
    assert float(smoothed_loss(logits, torch.tensor([0]), smoothing=0.1)) == pytest.approx(first, rel=1e-12)
    both = logits.expand(2, 3)
    assert float(smoothed_loss(both, torch.tensor([0, 1]), smoothing=0.1)) == pytest.approx(first + second, rel=1e-12)
    fused = fused_loss(torch.eye(3).double()[:1], logits.T.expand(3, 3), None, torch.tensor([0]), smoothing=0.1)
    assert float(fused) == pytest.approx(first, rel=1e-12)


@LAW
@given(rows=st.integers(1, 5), classes=st.integers(2, 8), smoothing=st.floats(0.0, 0.9), seed=st.integers(0, 1000))
def test_smoothing_is_cross_entropy_with_the_smoothed_distribution(rows, classes, smoothing, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    targets = torch.randint(classes, (rows,), generator=generator)
    wanted = torch.full_like(logits, smoothing / (classes - 1)).scatter_(1, targets[:, None], 1 - smoothing)
    expected = F.cross_entropy(logits, wanted, reduction="sum")  # with given distributions it is −Σ q log p
    assert float(smoothed_loss(logits, targets, smoothing=smoothing)) == pytest.approx(float(expected), rel=1e-9)


def test_without_smoothing_it_is_pytorchs_cross_entropy():
    torch.manual_seed(1)
    logits, targets = torch.randn(ROWS, CLASSES).double(), torch.arange(ROWS) % CLASSES
    expected = float(F.cross_entropy(logits, targets, reduction="sum"))
    assert float(smoothed_loss(logits, targets, smoothing=0.0)) == pytest.approx(expected, rel=1e-12)
    fused = fused_loss(logits, torch.eye(CLASSES).double(), None, targets, smoothing=0.0)
    assert float(fused) == pytest.approx(expected, rel=1e-12)


def inputs(*, bias: bool, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(1)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()

    hidden, vectors = draw(ROWS, WIDTH), draw(CLASSES, WIDTH)
    return hidden, vectors, *([draw(CLASSES)] if bias else [])


TARGETS = torch.tensor([0, 5, 2, 2, 1, 5, 3])


@pytest.mark.parametrize("upstream", [1.0, 0.25])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
# One row at a time (also where not even one fits), two and three (7 is a multiple of neither), all, more than all.
@pytest.mark.parametrize("chunk", [1, CLASSES, 2 * CLASSES, 3 * CLASSES + 1, ROWS * CLASSES, 1000])
@pytest.mark.parametrize("tile", [1, 2 * CLASSES, 1000])
def test_the_fused_loss_equals_the_plain_one_in_value_and_gradients(
    monkeypatch, chunk, tile, bias, smoothing, upstream
):
    monkeypatch.setattr(losses, "CHUNK_BYTES", 8 * chunk)  # the tensors are float64
    monkeypatch.setattr(losses, "FEWEST_BYTES", 8)
    monkeypatch.setattr(losses, "TILE_ELEMENTS", tile)
    parts = inputs(bias=bias)
    hidden, vectors, offset = (*parts, None)[:3]
    plain = smoothed_loss(F.linear(hidden, vectors, offset), TARGETS, smoothing=smoothing)
    expected = torch.autograd.grad(upstream * plain, parts)
    fused = fused_loss(hidden, vectors, offset, TARGETS, smoothing=smoothing)
    found = torch.autograd.grad(upstream * fused, parts)
    assert float(fused.detach()) == pytest.approx(float(plain.detach()), rel=1e-12)
    for gradient, wanted in zip(found, expected, strict=True):
        assert torch.allclose(gradient, wanted, rtol=1e-10, atol=1e-12)


def test_the_gradient_is_the_slope_of_the_loss():
    hidden, vectors, bias = inputs(bias=True)
    (found,) = torch.autograd.grad(fused_loss(hidden, vectors, bias, TARGETS, smoothing=0.1), vectors)
    step = 1e-6
    with torch.no_grad():
        for row, column in [(0, 0), (5, 2), (4, 4)]:
            moved = torch.zeros_like(vectors)
            moved[row, column] = step
            ahead = fused_loss(hidden, vectors + moved, bias, TARGETS, smoothing=0.1)
            behind = fused_loss(hidden, vectors - moved, bias, TARGETS, smoothing=0.1)
            assert float(found[row, column]) == pytest.approx(float((ahead - behind) / (2 * step)), rel=1e-5, abs=1e-7)


def test_the_inputs_are_not_changed():
    hidden, vectors, bias = inputs(bias=True)
    before = [part.detach().clone() for part in (hidden, vectors, bias)]
    fused_loss(hidden, vectors, bias, TARGETS, smoothing=0.1).backward()
    assert all(torch.equal(part, copy) for part, copy in zip((hidden, vectors, bias), before, strict=True))


def test_very_large_logits_do_not_overflow():
    hidden = torch.tensor([[1000.0]], requires_grad=True)
    vectors = torch.tensor([[1.0], [-1.0]])
    loss = fused_loss(hidden, vectors, None, torch.tensor([1]), smoothing=0.0)
    loss.backward()
    assert float(loss.detach()) == 2000.0  # log(e^1000 + e^−1000) + 1000
    assert hidden.grad.tolist() == [[2.0]]  # (1 − 0) · 1 + (0 − 1) · −1


def test_a_frozen_output_layer_still_passes_gradients_to_the_hidden_states():
    hidden, vectors = inputs(bias=False)
    frozen = vectors.detach()
    (found,) = torch.autograd.grad(fused_loss(hidden, frozen, None, TARGETS, smoothing=0.1), hidden)
    (wanted,) = torch.autograd.grad(smoothed_loss(hidden @ frozen.T, TARGETS, smoothing=0.1), hidden)
    assert torch.allclose(found, wanted)


def test_no_tokens_no_loss():
    hidden, vectors = inputs(bias=False)
    loss = fused_loss(hidden[:0], vectors, None, TARGETS[:0], smoothing=0.1)
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert not vectors.grad.any()


def test_where_no_gradient_is_wanted_only_the_logits_are_computed():
    hidden, vectors = inputs(bias=False)
    with torch.no_grad(), FlopCounterMode(display=False) as flops:
        fused_loss(hidden, vectors, None, TARGETS, smoothing=0.1)
    assert flops.get_total_flops() == 2 * ROWS * CLASSES * WIDTH
