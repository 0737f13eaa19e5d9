"""Sinusoidal positional encodings, section 3.5 of the paper.

    PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
    PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

Even dimensions are sines and odd ones cosines. The wavelengths form a geometric progression from 2π to 10000·2π. For
every fixed k, PE(pos + k) is a linear function (a rotation) of PE(pos).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return the paper's encodings [T, D] of the given positions [T]."""
    even = torch.arange(0, width, 2, dtype=torch.float64, device=positions.device)
    frequencies = torch.exp(even * (-math.log(10000.0) / width))  # 1 / 10000^(2i / d_model)
    angles = positions.to(torch.float64)[:, None] * frequencies  # [T, ceil(D / 2)]
    encodings = torch.empty(len(positions), width, dtype=torch.float64, device=positions.device)
    encodings[:, 0::2] = angles.sin()
    encodings[:, 1::2] = angles[:, : width // 2].cos()
    return encodings.to(torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """The paper's fixed encodings for sequences of any length; the table grows when a longer one is needed."""

    table: Tensor

    def __init__(self, width: int, *, initial: int = 256) -> None:
        super().__init__()
        self.width = width
        # Not persistent: the table follows from the formula and need not be stored with the weights.
        self.register_buffer("table", sinusoids(torch.arange(initial), width), persistent=False)

    def forward(self, start: int, stop: int) -> Tensor:
        """Return the encodings [stop - start, D] of the positions start, start + 1, … stop - 1."""
        if stop > len(self.table):
            longer = torch.arange(2 * stop, device=self.table.device)
            self.table = sinusoids(longer, self.width).to(self.table)
        return self.table[start:stop]
