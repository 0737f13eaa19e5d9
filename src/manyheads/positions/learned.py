"""Learned absolute positions: one trained vector per position (section 3.5's alternative; table 3, row E)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manyheads.positions.limits import too_long


class LearnedPositions(nn.Module):
    """A table of `maximum` trained vectors; a position beyond it is an error."""

    def __init__(self, width: int, *, maximum: int) -> None:
        super().__init__()
        self.maximum = maximum
        self.table = nn.Parameter(torch.randn(maximum, width) * width**-0.5)

    def forward(self, start: int, stop: int) -> Tensor:
        """Return the vectors [stop - start, D] of the positions start, start + 1, … stop - 1."""
        if stop > self.maximum:
            raise too_long(stop, self.maximum)
        return self.table[start:stop]
