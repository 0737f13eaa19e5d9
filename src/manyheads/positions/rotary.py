"""Rotary positions (RoFormer, Su et al. 2021): queries and keys are turned by an angle that grows with their position.

    (x_2i, x_2i+1) at position p  ↦  R(p·θ_i) · (x_2i, x_2i+1)        θ_i = 10000^(−2i/d_k)

which is x_2i + x_2i+1·√−1 times e^(p·θ_i·√−1).

The dot product of a query at p and a key at q then depends on p − q alone, and any mechanism that compares the two can
use it, because nothing is added to its scores.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from manyheads.positions.interface import AttentionPositions


class RotaryPositions(AttentionPositions):
    """Turns queries and keys, both as wide as a head."""

    adds_terms = False
    frequencies: Tensor

    def __init__(self, head_width: int) -> None:
        super().__init__()
        assert head_width % 2 == 0, "the configuration refuses this before a model is built"
        even = torch.arange(0, head_width, 2, dtype=torch.float64)
        frequencies = torch.exp(even * (-math.log(10000.0) / head_width)).to(torch.get_default_dtype())
        self.register_buffer("frequencies", frequencies, persistent=False)

    def prepare(self, queries: Tensor, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Return queries [B, H, T, Dh] and keys [B, H, S, Dh], both turned; the first of each is at `start`."""
        return self(queries, start), self(keys, start)

    def forward(self, vectors: Tensor, start: int = 0) -> Tensor:
        """Return vectors [B, H, T, Dh], turned as they stand at the positions start, start + 1, …."""
        positions = torch.arange(start, start + vectors.shape[-2], device=vectors.device, dtype=self.frequencies.dtype)
        angles = positions[:, None] * self.frequencies  # [T, Dh / 2]
        # A pair as a complex number is turned by one product, in a third of the time that four real ones take.
        pairs = vectors.to(angles.dtype).reshape(*vectors.shape[:-1], -1, 2)
        rotated = torch.view_as_complex(pairs) * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(rotated).flatten(-2).to(vectors.dtype)
