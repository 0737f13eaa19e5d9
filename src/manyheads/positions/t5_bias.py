"""Bucketed relative bias (T5, Raffel et al. 2020): each head adds a trained bias to a score, depending on the distance.

    e_ij = q_i · k_j / √d_k + b_h(bucket(j − i))

Small distances have a bucket each. Larger ones share buckets whose width grows exponentially, and all distances beyond
`reach` are in the last bucket. Unless attention is causal, each direction has half of the buckets. T5 shares one table
among the layers of a stack to save parameters; here each layer has its own.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from manyheads.positions.interface import AttentionPositions, by_head


class BucketedBias(AttentionPositions):
    """A table of one bias for each bucket and head."""

    def __init__(self, heads: int, *, buckets: int, reach: int, causal: bool) -> None:
        super().__init__()
        self.buckets, self.reach, self.causal = buckets, reach, causal
        self.table = nn.Parameter(torch.zeros(buckets, heads))

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        """Return the bias [H, …, T, S] at distances […, T, S]."""
        return by_head(self.table[self.bucket(distances)], queries)

    def bucket(self, distances: Tensor) -> Tensor:
        """Return the bucket of each distance j − i."""
        buckets = self.buckets if self.causal else self.buckets // 2
        first = 0 if self.causal else (distances > 0) * buckets
        magnitude = (-distances).clamp(min=0) if self.causal else distances.abs()
        exact = buckets // 2
        growth = (magnitude.clamp(min=1) / exact).log() / math.log(self.reach / exact)
        logarithmic = exact + (growth * (buckets - exact)).to(torch.long)
        return first + torch.where(magnitude < exact, magnitude, logarithmic.clamp(max=buckets - 1))
