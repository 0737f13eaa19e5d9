"""Linformer (Wang et al. 2020): keys and values are projected along the length, to k of them, however many there were.

    Attention(Q, E·K, F·V) = softmax(Q(E·K)ᵀ/√d_k) · F·V        E, F: [k, n]

A projected key is a mixture of positions from the whole sequence, the future included, so there is no causal form. E
and F are learned for at most `length` positions; a shorter sequence uses their first columns. One pair for all heads,
or one for each.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.positions.reach import beyond_table
from manyheads.positions.terms import RelativeTerm


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
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: RelativeTerm | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        mixed = self._mixing(self.values, values, mask) @ values
        return self._weights(queries, keys, mask) @ mixed

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: RelativeTerm | None = None) -> Tensor:
        """Return what each value is multiplied by in all, softmax(…)·F [B, H, T, S]; rows need not sum to 1."""
        return self._weights(queries, keys, mask) @ self._mixing(self.values, keys, mask)

    def _weights(self, queries: Tensor, keys: Tensor, mask: Mask) -> Tensor:
        """Return the weights of the k mixtures [B, H, T, k]."""
        mixed = self._mixing(self.keys, keys, mask) @ keys
        return (queries @ mixed.transpose(-2, -1) / math.sqrt(queries.shape[-1])).softmax(dim=-1)

    def _mixing(self, mixtures: Tensor, like: Tensor, mask: Mask) -> Tensor:
        """Return the columns [B or 1, H or 1, k, S] for a sequence like [B, H, S, Dh]; padding has none."""
        assert not mask.causal, "the configuration refuses this before a model is built"
        count = like.shape[-2]
        if count > self.length:
            raise beyond_table(count, self.length, where="model.attention.length")
        columns = mixtures[None, :, :, :count]
        return columns if mask.valid is None else columns * mask.valid[:, None, None, :]
