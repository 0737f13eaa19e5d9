"""Attention of which a fixed pattern says who may look at whom: what windows and blocks have in common.

A mechanism here has two forms. `forward` computes only the scores of its pattern, in blocks. `weights` is the
definition: full attention, with −∞ wherever the pattern forbids; it is for looking inside, and for tests to compare.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.masks import Mask, Rendered
from manyheads.attention.mechanism import Mechanism, weighted_sum
from manyheads.positions.interface import AttentionPositions, distances_of


class PatternAttention(Mechanism):
    """Softmax over the keys that a pattern allows."""

    def allowed(self, queries: int, keys: int, mask: Mask, device: torch.device) -> Tensor:
        """Return who may look at whom by the pattern alone, broadcasting to [B, H, T, S]."""
        raise NotImplementedError

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return softmax(QKᵀ/√d_k + R + M) [B, H, T, S], where M forbids what the mask or the pattern does."""
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        if positions is not None:
            scores = scores + positions.scores(queries, keys, distances_of(scores))
        seen = self.allowed(queries.shape[-2], keys.shape[-2], mask, queries.device)
        dense = mask.dense(queries.shape[-2], keys.shape[-2])
        rendered = Rendered.of(seen if dense is None else seen & dense.to(seen.device), scores.dtype)
        weights = (scores + rendered.forbidden).softmax(dim=-1)
        return weights if rendered.blind is None else weights.masked_fill(rendered.blind, 0.0)

    def by_definition(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None
    ) -> Tensor:
        """Return the outputs by way of the whole matrix, for what is too short to be worth blocks."""
        return weighted_sum(self.weights(queries, keys, mask, positions), values, positions)


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    seen: Tensor,
    positions: AttentionPositions | None = None,
    apart: Tensor | None = None,
) -> Tensor:
    """Return the outputs [B, H, …, T, Dh] of blocks of queries over those of their keys [B, H, …, S, Dh] that are seen.

    `seen` broadcasts to [B, 1, …, T, S]. Relative positions want to know the distances `apart` […, T, S].
    """
    if positions is None:
        return _fused(queries, keys, values, Rendered.of(seen, queries.dtype))
    assert apart is not None
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1]) + positions.scores(queries, keys, apart)
    return weighted_sum(masked_softmax(scores, seen.expand(scores.shape)), values, positions, apart)


def _fused(queries: Tensor, keys: Tensor, values: Tensor, mask: Rendered) -> Tensor:
    """Return the same by a kernel that never holds the scores; to it, each block is a sentence."""
    batch, _, *blocks, _, _ = queries.shape

    def sentences(tensor: Tensor) -> Tensor:
        """Return [B or 1, H, …, T, D] as [B·…, H, T, D]."""
        return tensor.movedim(1, -3).expand(batch, *blocks, -1, -1, -1).flatten(0, -4)

    outputs = F.scaled_dot_product_attention(
        sentences(queries), sentences(keys), sentences(values), attn_mask=sentences(mask.forbidden)
    )
    outputs = outputs.view(batch, *blocks, *outputs.shape[1:]).movedim(-3, 1)
    return outputs if mask.blind is None else outputs.masked_fill(mask.blind, 0.0)


def masked_softmax(scores: Tensor, seen: Tensor) -> Tensor:
    """Return the softmax over the keys that are seen; a query that sees none gets zeros."""
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0)


def at_the_beginning(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None, *, start: int = 0
) -> tuple[Tensor, Tensor]:
    """Return the outputs [B, H, T, Dh] and weights [B, H, T, S] of the positions from `start`, which see everything.

    Where nobody may look ahead, keys after the last of these queries need not be given.
    """
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    places = torch.arange(keys.shape[-2], device=keys.device)
    apart = places - places[start : start + queries.shape[-2], None]
    if positions is not None:
        scores = scores + positions.scores(queries, keys, apart)
    seen = apart <= 0 if mask.causal else torch.ones_like(apart, dtype=torch.bool)
    if mask.valid is not None:
        seen = seen & mask.valid[:, None, None, : keys.shape[-2]]
    weights = masked_softmax(scores, seen.expand(scores.shape))
    return weighted_sum(weights, values, positions, apart), weights


def padded(tensor: Tensor, length: int, dim: int) -> Tensor:
    """Return a tensor with zeros (or False) at the end of a dimension, up to a length."""
    missing = length - tensor.shape[dim]
    if missing == 0:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = missing
    return torch.cat((tensor, tensor.new_zeros(shape)), dim=dim)
