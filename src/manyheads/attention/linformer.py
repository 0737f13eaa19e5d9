"""Linformer (Wang et al. 2020): keys and values are projected along the length, to k of them, however many there were.

    Attention(Q, E·K, F·V) = softmax(Q(E·K)ᵀ/√d_k) · F·V        E, F: [k, n]

A projected key is a mixture of positions from the whole sequence, the future included, so there is no causal form. E
and F are learned for at most `length` positions; a shorter sequence uses their first columns. One pair for all heads,
or one for each.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.positions.interface import AttentionPositions
from manyheads.positions.reach import beyond_table


class LinformerAttention(Mechanism):
    """Full attention over `rank` mixtures of the keys."""

    def __init__(self, heads: int, *, rank: int, length: int, shared: bool = True) -> None:
        super().__init__()
        self.length = length
        for name in ("keys", "values"):
            # Drawn so that a mixture of n unit vectors has about unit length again.
            mixtures = torch.randn(1 if shared else heads, rank, length) * length**-0.5
            self.register_parameter(name, nn.Parameter(mixtures))

    keys: nn.Parameter
    values: nn.Parameter

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        mixed_keys = _mixed(keys, self._mixing(self.keys, keys, mask))
        mixed_values = _mixed(values, self._mixing(self.values, values, mask))
        return F.scaled_dot_product_attention(queries, mixed_keys, mixed_values)

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return what each value is multiplied by in all, softmax(…)·F [B, H, T, S]; rows need not sum to 1."""
        mixed_keys = _mixed(keys, self._mixing(self.keys, keys, mask))
        scores = queries @ mixed_keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        return scores.softmax(dim=-1) @ self._mixing(self.values, keys, mask)

    def _mixing(self, mixtures: Tensor, like: Tensor, mask: Mask) -> Tensor:
        """Return the columns [B or 1, H or 1, k, S] for a sequence like [B, H, S, Dh]; padding has none."""
        assert not mask.causal, "the configuration refuses this before a model is built"
        count = like.shape[-2]
        if count > self.length:
            raise beyond_table(count, self.length, where="model.attention.length")
        columns = mixtures[None, :, :, :count]
        return columns if mask.valid is None else columns * mask.valid[:, None, None, :]


def _mixed(vectors: Tensor, columns: Tensor) -> Tensor:
    """Return the mixtures [B, H, k, Dh] of vectors [B, H, S, Dh] by columns [B or 1, H or 1, k, S]."""
    if columns.shape[1] > 1:
        return columns @ vectors
    batch, heads, _, width = vectors.shape  # heads that share their columns are mixed by one product
    together = columns[:, 0] @ vectors.transpose(1, 2).flatten(2)
    return together.view(batch, -1, heads, width).transpose(1, 2)
