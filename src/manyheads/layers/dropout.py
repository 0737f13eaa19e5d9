"""Dropout with cheap masks.

On a CPU, drawing a mask with one random number per element costs more than the matrix product it follows in a small
model. One 64-bit draw decides four elements here, each with a probability exact to 1/65,536; the survivors are scaled
by the probability really used, so the expectation is exact. On other devices PyTorch's own kernel is taken.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS = 1 << 16  # a 16-bit number decides one element


class Dropout(nn.Module):
    """Set each element to zero with probability `probability` while training; scale the others up to make up for it."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, inputs: Tensor) -> Tensor:
        """Return inputs of any shape, thinned out while training and unchanged otherwise."""
        if not self.training or self.probability == 0.0:
            return inputs
        if inputs.device.type != "cpu":
            return F.dropout(inputs, self.probability)
        return _CheapDropout.apply(inputs, self.probability)

    def extra_repr(self) -> str:
        """Say the probability when the module is printed."""
        return f"{self.probability}"


def keep_mask(like: Tensor, probability: float) -> Tensor:
    """Return a mask shaped like the tensor: 0 with the given probability, else the scale of a survivor."""
    dropped = min(round(probability * _LEVELS), _LEVELS - 1)
    draws = torch.empty((like.numel() + 3) // 4, dtype=torch.int64).random_(-(1 << 63), (1 << 63) - 1)
    levels = draws.view(torch.int16)[: like.numel()].view(like.shape)
    kept = levels >= dropped - _LEVELS // 2
    return kept.to(like.dtype).mul_(_LEVELS / (_LEVELS - dropped))


class _CheapDropout(torch.autograd.Function):
    """Multiply by one mask forward and backward."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, probability: float) -> Tensor:  # noqa: ANN401
        """Draw a mask and multiply by it."""
        mask = keep_mask(inputs, probability)
        context.save_for_backward(mask)
        return inputs * mask

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Multiply by the mask again."""
        (mask,) = context.saved_tensors
        return gradients[0] * mask, None
