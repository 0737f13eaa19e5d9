"""Convolutions over positions are PyTorch's, causal ones never look ahead, and steps continue where one ended."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import greatest_difference
from manyheads.layers.convolution import Kernel, NormalizedWeight

CLOSE = 1e-6
SHAPES = [(2, 1), (3, 1), (3, 4), (5, 2)]
CENTRED = [(width, dilation) for width, dilation in SHAPES if width % 2]
shapes = pytest.mark.parametrize(("width", "dilation"), SHAPES)


def parts(width: int, *, inputs: int = 6, outputs: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """Return inputs [2, 9, inputs], weights [outputs, width, inputs] and biases; sums of products are about 1."""
    torch.manual_seed(3)
    states, bias = torch.randn(2, 9, inputs), torch.randn(outputs)
    weight = torch.randn(outputs, width, inputs) / (width * inputs) ** 0.5
    return states.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()


def gradients(outputs: Tensor, *leaves: Tensor) -> tuple[Tensor, ...]:
    """Return the gradients of a sum in which every output has a factor of its own."""
    factors = torch.linspace(-1, 1, outputs.numel()).view(outputs.shape)
    return torch.autograd.grad((outputs * factors).sum(), leaves)


def reference(states: Tensor, weight: Tensor, bias: Tensor, *, dilation: int, causal: bool) -> Tensor:
    """Return what `conv1d` computes on [B, D, T]."""
    span = (weight.shape[1] - 1) * dilation
    padded = F.pad(states.transpose(1, 2), (span, 0) if causal else (span // 2, span // 2))
    return F.conv1d(padded, weight.transpose(1, 2), bias, dilation=dilation).transpose(1, 2)


@shapes
def test_a_causal_convolution_is_that_of_pytorch(width, dilation):
    states, weight, bias = leaves = parts(width)
    found, _ = Kernel(width, dilation).causal(states, weight, bias)
    expected = reference(states, weight, bias, dilation=dilation, causal=True)
    assert greatest_difference(found, expected) < CLOSE
    for one, other in zip(gradients(found, *leaves), gradients(expected, *leaves), strict=True):
        assert greatest_difference(one, other) < CLOSE * max(1.0, float(other.abs().max()))


@pytest.mark.parametrize(("width", "dilation"), CENTRED)
def test_a_centred_convolution_is_that_of_pytorch(width, dilation):
    states, weight, bias = leaves = parts(width)
    found = Kernel(width, dilation).centred(states, weight, bias)
    expected = reference(states, weight, bias, dilation=dilation, causal=False)
    assert greatest_difference(found, expected) < CLOSE
    for one, other in zip(gradients(found, *leaves), gradients(expected, *leaves), strict=True):
        assert greatest_difference(one, other) < CLOSE * max(1.0, float(other.abs().max()))


@shapes
def test_a_causal_convolution_sees_its_past_and_nothing_after(width, dilation):
    states, weight, bias = parts(width)
    found, _ = Kernel(width, dilation).causal(states, weight, bias)
    (gradient,) = torch.autograd.grad(found[0, 6].sum(), states)
    seen = gradient[0].abs().sum(dim=1).nonzero()[:, 0].tolist()
    assert seen == sorted(6 - tap * dilation for tap in range(width) if 6 - tap * dilation >= 0)
    assert gradient[1].abs().sum() == 0  # no other row either


@shapes
@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 1, 3], [2, 7]])
def test_pieces_one_after_the_other_are_the_whole(width, dilation, cuts):
    states, weight, bias = parts(width)
    kernel = Kernel(width, dilation)
    whole, _ = kernel.causal(states, weight, bias)
    past = kernel.beginning(2, states)
    pieces = []
    for piece in states.split(cuts, dim=1):
        found, past = kernel.causal(piece, weight, bias, past)
        assert past.shape == (2, kernel.span, 6)  # the memory of a step does not grow
        pieces.append(found)
    assert greatest_difference(torch.cat(pieces, dim=1), whole) < CLOSE


def test_normalised_weights_are_those_of_pytorch():
    torch.manual_seed(4)
    ours = NormalizedWeight(5, 3, 6, deviation=0.3)
    convolution = nn.Conv1d(6, 5, 3)
    theirs = nn.utils.parametrizations.weight_norm(convolution, dim=0).parametrizations.weight
    with torch.no_grad():
        ours.length.mul_(torch.linspace(0.5, 2, 5))
        theirs.original0.copy_(ours.length.view(5, 1, 1))
        theirs.original1.copy_(ours.direction.transpose(1, 2))
    found, expected = ours().transpose(1, 2), convolution.weight
    assert greatest_difference(found, expected) < CLOSE
    factors = torch.randn(5, 6, 3)
    (found * factors).sum().backward()
    (expected * factors).sum().backward()
    assert greatest_difference(ours.direction.grad.transpose(1, 2), theirs.original1.grad) < CLOSE * 10
    assert greatest_difference(ours.length.grad, theirs.original0.grad.flatten()) < CLOSE * 10


def test_at_first_a_normalised_weight_is_what_was_drawn():
    torch.manual_seed(4)
    weight = NormalizedWeight(50, 3, 60, deviation=0.3)
    assert greatest_difference(weight(), weight.direction) < CLOSE
    # The deviation of n numbers has a relative error of about 1/√(2n): a hundredth here; five of them are allowed.
    assert float(weight().detach().std()) == pytest.approx(0.3, rel=5 / (2 * 9000) ** 0.5)
