"""R-Drop equals its equation in value and gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.tasks import loss as losses
from manyheads.tasks.loss import smoothed_loss
from manyheads.tasks.r_drop import r_drop_loss

ROWS, WIDTH, CLASSES = 7, 5, 6
TARGETS = torch.tensor([0, 5, 2, 2, 1, 5, 3])


def inputs(*, bias: bool, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    shapes = [(ROWS, 2, WIDTH), (CLASSES, WIDTH), *([(CLASSES,)] if bias else [])]
    return tuple(torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes)


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL(p₁‖p₂) of two logits, by PyTorch, whose order of arguments is the other way round."""
    return F.kl_div(second.log_softmax(-1), first.log_softmax(-1), reduction="sum", log_target=True)


def equation(first: Tensor, second: Tensor, *, smoothing: float, alpha: float) -> Tensor:
    """Half of the paper's CE(p₁) + CE(p₂) + α/2·(KL(p₁‖p₂) + KL(p₂‖p₁))."""
    truth = smoothed_loss(first, TARGETS, smoothing=smoothing) + smoothed_loss(second, TARGETS, smoothing=smoothing)
    return (truth + alpha / 2 * (divergence(first, second) + divergence(second, first))) / 2


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("alpha", [0.0, 5.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
# One token at a time, where not even that fits; two and three of seven; all.
@pytest.mark.parametrize(("chunk", "tile"), [(1, 1), (4 * CLASSES, 1), (6 * CLASSES + 1, 4 * CLASSES), (1000, 1000)])
def test_value_and_gradients_equal_the_equation(monkeypatch, chunk, tile, bias, smoothing, alpha, dtype):
    monkeypatch.setattr(losses, "CHUNK_BYTES", dtype.itemsize * chunk)
    monkeypatch.setattr(losses, "FEWEST_BYTES", dtype.itemsize)
    monkeypatch.setattr(losses, "TILE_ELEMENTS", tile)
    parts = inputs(bias=bias, dtype=dtype)
    hidden, vectors, offset = (*parts, None)[:3]
    first, second = F.linear(hidden, vectors, offset).unbind(1)
    plain = equation(first, second, smoothing=smoothing, alpha=alpha)
    expected = torch.autograd.grad(0.25 * plain, parts)
    fused = r_drop_loss(hidden, vectors, offset, TARGETS, smoothing=smoothing, alpha=alpha)
    found = torch.autograd.grad(0.25 * fused, parts)
    tolerance = 1e-10 if dtype == torch.float64 else 1e-5
    assert float(fused.detach()) == pytest.approx(float(plain.detach()), rel=tolerance)
    for gradient, wanted in zip(found, expected, strict=True):
        assert torch.allclose(gradient, wanted, rtol=tolerance, atol=tolerance)


def test_two_equal_passes_are_the_plain_loss():
    hidden, vectors = inputs(bias=False)
    same = hidden[:, :1].expand(-1, 2, -1)
    loss = r_drop_loss(same, vectors, None, TARGETS, smoothing=0.1, alpha=5.0)
    plain = smoothed_loss(hidden[:, 0] @ vectors.T, TARGETS, smoothing=0.1)
    assert float(loss.detach()) == pytest.approx(float(plain.detach()), rel=1e-12)


def test_predictions_that_exclude_each_other_stay_finite():
    hidden = torch.tensor([[[1000.0], [-1000.0]]], requires_grad=True)
    loss = r_drop_loss(hidden, torch.tensor([[1.0], [-1.0]]), None, torch.tensor([1]), smoothing=0.0, alpha=1.0)
    loss.backward()
    # The first pass is sure of class 0 (CE 2000, KL 2000), the second of class 1 (CE 0, KL 2000).
    assert float(loss.detach()) == 0.5 * 2000 + 0.25 * 4000
    assert hidden.grad.isfinite().all()
