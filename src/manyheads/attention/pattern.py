"""Attention with a fixed sparsity pattern: the common base of windows and blocks.

Such a mechanism has two implementations. `forward` computes only the scores that its pattern allows, in blocks.
`weights` is the definition: full attention with −∞ wherever the pattern forbids. It is used for recording and in tests.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.masks import AdditiveMask, Mask
from manyheads.attention.mechanism import Mechanism, weighted_sum
from manyheads.positions.interface import AttentionPositions, distances_of


class PatternAttention(Mechanism):
    """Softmax over the keys that a pattern allows."""

    def allowed(self, queries: int, keys: int, mask: Mask, device: torch.device) -> Tensor:
        """Return which keys the pattern allows for each query, as booleans that broadcast to [B, H, T, S]."""
        raise NotImplementedError

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return softmax(QKᵀ/√d_k + R + M) [B, H, T, S], where M combines the mask and the pattern."""
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        if positions is not None:
            scores = scores + positions.scores(queries, keys, distances_of(scores))
        visible = self.allowed(queries.shape[-2], keys.shape[-2], mask, queries.device)
        dense = mask.dense(queries.shape[-2], keys.shape[-2])
        additive = AdditiveMask.of(visible if dense is None else visible & dense.to(visible.device), scores.dtype)
        weights = (scores + additive.bias).softmax(dim=-1)
        return weights if additive.fully_masked is None else weights.masked_fill(additive.fully_masked, 0.0)

    def by_definition(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None
    ) -> Tensor:
        """Return the outputs computed from the full matrix, for sequences too short to gain from blocks."""
        return weighted_sum(self.weights(queries, keys, mask, positions), values, positions)


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    visible: Tensor,
    positions: AttentionPositions | None = None,
    distances: Tensor | None = None,
) -> Tensor:
    """Return the outputs [B, H, …, T, Dh] of blocks of queries over the visible ones of their keys [B, H, …, S, Dh].

    `visible` broadcasts to [B, 1, …, T, S]. Positions need the distances […, T, S].
    """
    if positions is None:
        return _fused(queries, keys, values, AdditiveMask.of(visible, queries.dtype))
    assert distances is not None
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    scores = scores + positions.scores(queries, keys, distances)
    return weighted_sum(masked_softmax(scores, visible.expand(scores.shape)), values, positions, distances)


def _fused(queries: Tensor, keys: Tensor, values: Tensor, mask: AdditiveMask) -> Tensor:
    """Compute the outputs with a kernel that never holds the scores; each block becomes a row of its batch."""
    batch, _, *blocks, _, _ = queries.shape

    def as_batch(tensor: Tensor) -> Tensor:
        """Return [B or 1, H, …, T, D] as [B·…, H, T, D]."""
        return tensor.movedim(1, -3).expand(batch, *blocks, -1, -1, -1).flatten(0, -4)

    outputs = F.scaled_dot_product_attention(
        as_batch(queries), as_batch(keys), as_batch(values), attn_mask=as_batch(mask.bias)
    )
    outputs = outputs.view(batch, *blocks, *outputs.shape[1:]).movedim(-3, 1)
    return outputs if mask.fully_masked is None else outputs.masked_fill(mask.fully_masked, 0.0)


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """Return the softmax over the visible keys; the weights of a query without visible keys are zero."""
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~visible.any(dim=-1, keepdim=True), 0.0)


def attend_globally(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None, *, start: int = 0
) -> tuple[Tensor, Tensor]:
    """Return the outputs [B, H, T, Dh] and weights [B, H, T, S] of queries that attend to all keys.

    The first query is at position `start` and the first key at 0. With a causal mask, keys after the last query may be
    left out.
    """
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    indices = torch.arange(keys.shape[-2], device=keys.device)
    distances = indices - indices[start : start + queries.shape[-2], None]
    if positions is not None:
        scores = scores + positions.scores(queries, keys, distances)
    visible = distances <= 0 if mask.causal else torch.ones_like(distances, dtype=torch.bool)
    if mask.valid is not None:
        visible = visible & mask.valid[:, None, None, : keys.shape[-2]]
    weights = masked_softmax(scores, visible.expand(scores.shape))
    return weighted_sum(weights, values, positions, distances), weights


def padded(tensor: Tensor, length: int, dim: int) -> Tensor:
    """Pad a dimension of a tensor at its end with zeros (or False) to a length."""
    missing = length - tensor.shape[dim]
    if missing == 0:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = missing
    return torch.cat((tensor, tensor.new_zeros(shape)), dim=dim)
