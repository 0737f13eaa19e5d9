"""Linformer (Wang et al. 2020), O(n·k): n keys and values are projected along the length to k of them.

    Attention(Q, E·K, F·V) = softmax(Q(E·K)ᵀ/√d_k) · F·V        E, F: [k, n]

A projected key is a linear combination of the keys at all positions, including future ones, so there is no causal form.
E and F are learned for at most `length` positions; a shorter sequence uses their first columns. All heads share one
pair, or each head has its own.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.positions.interface import AttentionPositions
from manyheads.positions.limits import too_long


class LinformerAttention(Mechanism):
    """Full attention over `rank` linear combinations of the keys."""

    def __init__(self, heads: int, *, rank: int, length: int, shared: bool = True) -> None:
        super().__init__()
        self.length = length
        for name in ("keys", "values"):
            # With this variance, a combination of `length` unit vectors has about unit length.
            projection = torch.randn(1 if shared else heads, rank, length) * length**-0.5
            self.register_parameter(name, nn.Parameter(projection))

    keys: nn.Parameter
    values: nn.Parameter

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        projected_keys = _project(keys, self._projection(self.keys, keys, mask))
        projected_values = _project(values, self._projection(self.values, values, mask))
        return F.scaled_dot_product_attention(queries, projected_keys, projected_values)

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weight of each value, softmax(…)·F [B, H, T, S]; rows need not sum to 1."""
        projected_keys = _project(keys, self._projection(self.keys, keys, mask))
        scores = queries @ projected_keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        return scores.softmax(dim=-1) @ self._projection(self.values, keys, mask)

    def _projection(self, projection: Tensor, like: Tensor, mask: Mask) -> Tensor:
        """Return the columns [B or 1, H or 1, k, S] of E or F for a sequence [B, H, S, Dh], zero for padding."""
        assert not mask.causal, "the configuration refuses this before a model is built"
        count = like.shape[-2]
        if count > self.length:
            raise too_long(count, self.length, where="model.attention.length")
        columns = projection[None, :, :, :count]
        return columns if mask.valid is None else columns * mask.valid[:, None, None, :]


def _project(vectors: Tensor, columns: Tensor) -> Tensor:
    """Project vectors [B, H, S, Dh] to [B, H, k, Dh] by columns [B or 1, H or 1, k, S]."""
    if columns.shape[1] > 1:
        return columns @ vectors
    batch, heads, _, width = vectors.shape  # one product serves all heads that share their columns
    together = columns[:, 0] @ vectors.transpose(1, 2).flatten(2)
    return together.view(batch, -1, heads, width).transpose(1, 2)
