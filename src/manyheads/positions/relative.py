"""Relative positions on keys and values (Shaw et al. 2018):

    e_ij = q_i · (k_j + a^K_(j−i)) / √d_k        z_i = Σ_j α_ij · (v_j + a^V_(j−i))

with one trained vector for each distance up to `clip`; larger distances have the vector of `clip`. All heads of a layer
share the vectors. q_i · a^K is computed once per distance and then gathered, and weights are summed per distance before
they are multiplied by a^V, so that no tensor [T, S, d_k] is needed.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from manyheads.positions.interface import AttentionPositions


class RelativePositions(AttentionPositions):
    """Trained vectors for the distances −clip … clip, for keys and for values."""

    def __init__(self, head_width: int, *, clip: int) -> None:
        super().__init__()
        self.clip = clip
        self.keys = nn.Parameter(torch.randn(2 * clip + 1, head_width) * head_width**-0.5)
        self.values = nn.Parameter(torch.randn(2 * clip + 1, head_width) * head_width**-0.5)

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        """Return q_i · a^K_(j−i) / √d_k [B, H, …, T, S] for queries [B, H, …, T, Dh] at distances […, T, S]."""
        each = queries @ self.keys.T / math.sqrt(queries.shape[-1])  # [B, H, …, T, 2·clip + 1]
        return each.gather(-1, self._rows(distances).expand(*queries.shape[:-1], -1))

    def outputs(self, weights: Tensor, distances: Tensor) -> Tensor:
        """Return Σ_j α_ij · a^V_(j−i) [B, H, …, T, Dh] for weights [B, H, …, T, S] at distances […, T, S]."""
        sums = weights.new_zeros(*weights.shape[:-1], len(self.values))
        return sums.scatter_add(-1, self._rows(distances).expand(weights.shape), weights) @ self.values

    def _rows(self, distances: Tensor) -> Tensor:
        """Return the row of the tables for each distance."""
        return distances.clamp(-self.clip, self.clip) + self.clip
