"""Dropout with masks that are cheap to sample.

On a CPU, sampling one random number per element takes longer than the matrix product before it in a small model. Here
one 64-bit number decides four elements, each with a probability exact to 1/65,536. Kept elements are scaled by the
probability actually used, so that the expectation is exact. Other devices use PyTorch's own kernel.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS = 1 << 16  # a 16-bit number decides one element


class Dropout(nn.Module):
    """During training, set each element to zero with the given probability and scale the others to compensate."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply dropout to inputs of any shape during training; return them unchanged otherwise."""
        if not self.training or self.probability == 0.0:
            return inputs
        if inputs.device.type != "cpu":
            return F.dropout(inputs, self.probability)
        return _CheapDropout.apply(inputs, self.probability)

    def extra_repr(self) -> str:
        """Show the probability when the module is printed."""
        return f"{self.probability}"


def keep_mask(like: Tensor, probability: float) -> Tensor:
    """Return a mask of the shape of a tensor: 0 with the given probability, else the scale of a kept element."""
    dropped = min(round(probability * _LEVELS), _LEVELS - 1)
    draws = torch.empty((like.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), (1 << 63) - 1)
    levels = draws.view(torch.int16)[: like.numel()].view(like.shape)
    kept = levels >= dropped - _LEVELS // 2
    return kept.to(like.dtype).mul_(_LEVELS / (_LEVELS - dropped))


class _CheapDropout(torch.autograd.Function):
    """Multiplication by the same mask forward and backward."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, probability: float) -> Tensor:  # noqa: ANN401
        """Sample a mask and multiply by it."""
        mask = keep_mask(inputs, probability)
        context.save_for_backward(mask)
        return inputs * mask

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Multiply by the mask again."""
        (mask,) = context.saved_tensors
        return gradients[0] * mask, None
