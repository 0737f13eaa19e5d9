"""The two ways in which positions enter a model.

`AbsolutePositions` are vectors that are added to the embeddings. `AttentionPositions` act inside self-attention:

    Q, K = prepare(Q, K)        softmax(QKᵀ/√d_k + R) · V + Z

A kind of positions may change the queries and keys before they are compared, or add a term R to the scores and a term Z
to the outputs. Both terms depend on positions only through the distance j − i of key j from query i, which is negative
for earlier keys. A mechanism that computes only some of the scores asks for the terms at their distances only.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn


class AbsolutePositions(Protocol):
    """Encodings that are added to embeddings, one vector per position."""

    def __call__(self, start: int, stop: int) -> Tensor:
        """Return the vectors [stop - start, D] of the positions start … stop - 1."""
        ...


class AttentionPositions(nn.Module):
    """Positions that act inside self-attention.

    If `adds_terms` is false, there are no terms R and Z, and mechanisms are called without positions. They can then use
    kernels that never hold the scores.
    """

    adds_terms: bool = True

    def prepare(self, queries: Tensor, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Return queries [B, H, T, Dh] and keys [B, H, S, Dh] as they are compared; both begin at position `start`."""
        return queries, keys

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        """Return R, broadcastable to [B, H, …, T, S].

        Queries are [B, H, …, T, Dh], keys [B, H, …, S, Dh] and distances […, T, S].
        """
        raise NotImplementedError

    def outputs(self, weights: Tensor, distances: Tensor) -> Tensor | None:
        """Return Z [B, H, …, T, Dh] for weights [B, H, …, T, S] at distances […, T, S], or None for zero."""
        return None


def by_head(numbers: Tensor, queries: Tensor) -> Tensor:
    """Move the head axis of numbers […, T, S, H] to its place in the scores of queries [B, H, …, T, Dh].

    Distances that differ between sentences have the shape [B, 1, …, T, S]; there, H takes the place of the 1.
    """
    if numbers.dim() == queries.dim() + 1:
        return numbers.movedim(-1, 1).squeeze(2)
    return numbers.movedim(-1, 0)


def distances_of(scores: Tensor) -> Tensor:
    """Return j − i [T, S] for scores [..., T, S]; the last query is at the position of the last key."""
    queries, keys = scores.shape[-2:]
    indices = torch.arange(keys, device=scores.device)
    return indices - indices[keys - queries :, None]
