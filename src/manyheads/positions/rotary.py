"""Rotary positions (RoFormer, Su et al. 2021): queries and keys are rotated by an angle that grows with their position.

    (x_2i, x_2i+1) at position p  ↦  R(p·θ_i) · (x_2i, x_2i+1)        θ_i = 10000^(−2i/d_k)

which is x_2i + x_2i+1·√−1 times e^(p·θ_i·√−1).

The dot product of a query at p and a key at q then depends on the positions only through p − q. Since nothing is added
to the scores, this works with every mechanism that compares queries with keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from manyheads.positions.interface import AttentionPositions


class RotaryPositions(AttentionPositions):
    """Rotates queries and keys, both of the width of a head."""

    adds_terms = False
    frequencies: Tensor

    def __init__(self, head_width: int) -> None:
        super().__init__()
        assert head_width % 2 == 0, "the configuration refuses this before a model is built"
        even = torch.arange(0, head_width, 2, dtype=torch.float64)
        frequencies = torch.exp(even * (-math.log(10000.0) / head_width)).to(torch.get_default_dtype())
        self.register_buffer("frequencies", frequencies, persistent=False)

    def prepare(self, queries: Tensor, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Return rotated queries [B, H, T, Dh] and keys [B, H, S, Dh]; both begin at position `start`."""
        return self(queries, start), self(keys, start)

    def forward(self, vectors: Tensor, start: int = 0) -> Tensor:
        """Rotate vectors [B, H, T, Dh] at the positions start, start + 1, …."""
        positions = torch.arange(start, start + vectors.shape[-2], device=vectors.device, dtype=self.frequencies.dtype)
        angles = positions[:, None] * self.frequencies  # [T, Dh / 2]
        # One complex product rotates a pair in a third of the time of four real products.
        pairs = vectors.to(angles.dtype).reshape(*vectors.shape[:-1], -1, 2)
        rotated = torch.view_as_complex(pairs) * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(rotated).flatten(-2).to(vectors.dtype)
