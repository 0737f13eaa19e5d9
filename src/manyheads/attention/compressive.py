"""Attention to the last positions, and to older ones that were compressed c to one (Rae et al. 2019).

    softmax([ scores of positions | scores of compressed memories ]) · [ values of both ]

The positions of a text are compressed in blocks of c: block k has the positions k·c … k·c + c − 1. For query i, a block
is compressed once all of it is more than M positions back, so that ⌊(i − M) / c⌋ blocks are; of these the query attends
to the last C. It attends to all positions after these blocks, which are M to M + c − 1. Which ones they are depends on
i alone, not on the pieces in which the text is read.

Positions are counted along the line of what a query attends to, as in the paper: a compressed memory takes one place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.attention.cache import KeysValues
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.positions.interface import AttentionPositions


@dataclass(frozen=True)
class Seen:
    """Which keys are visible to each query [T, S], and how far they are from it […, T, S]."""

    visible: Tensor
    distances: Tensor


@dataclass(frozen=True)
class Reach:
    """How far back queries attend: to `memory` positions, and before them to `compressed` ones of `rate` each.

    Positions are counted from the first one that is not compressed, with which a block begins.
    """

    memory: int
    compressed: int
    rate: int

    def blocks(self, position: int) -> int:
        """Return the number of blocks that are compressed for a query at a position."""
        return max(0, position - self.memory) // self.rate

    def near(self, queries: Tensor, keys: int) -> Seen:
        """Return what queries at positions [T] see of the positions before `keys`."""
        positions = torch.arange(keys, device=queries.device)
        distances = positions - queries[:, None]
        return Seen((distances <= 0) & (positions >= self._begins(queries)), distances)

    def far(self, queries: Tensor, earlier: int, blocks: int) -> Seen:
        """Return what queries at positions [T] see of `earlier` compressed memories and of those of the next blocks."""
        numbers, begins = torch.arange(-earlier, blocks, device=queries.device), self._begins(queries)
        places = numbers - begins // self.rate  # before the first position that is seen
        return Seen((places < 0) & (places >= -self.compressed), (places + begins - queries[:, None])[None])

    def _begins(self, queries: Tensor) -> Tensor:
        """Return the first position that is not compressed for each query [T, 1]."""
        return (queries[:, None] - self.memory).clamp(min=0) // self.rate * self.rate


class CompressiveAttention(MultiHeadAttention):
    """Multi-head attention to single positions and to compressed ones, as far as a `Reach` says."""

    def __init__(
        self, width: int, heads: int, *, positions: AttentionPositions, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__(width, heads, bias=bias, positions=positions)
        self.dropout = dropout  # of the weights

    def project(self, inputs: Tensor) -> tuple[Tensor, KeysValues]:
        """Return the queries [B, H, T, Dh] of inputs [B, T, D], and their keys and values."""
        queries, keys, values = self._project(inputs, 0, 3)
        return queries, KeysValues(keys, values)

    def scores(self, queries: Tensor, keys: Tensor, seen: Seen) -> Tensor:
        """Return the scores [B, H, T, S] of queries [B, H, T, Dh] and keys [B, H, S, Dh]: −∞ for what is not seen."""
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        if not keys.shape[-2]:
            return scores
        assert self.positions is not None
        scores = scores + self.positions.scores(queries, keys, seen.distances)
        return scores.masked_fill(~seen.visible, -torch.inf)

    def read(self, scores: Tensor, values: Tensor) -> Tensor:
        """Return what the heads read together [B, T, D], from scores [B, H, T, S] and values [B, H, S, Dh]."""
        weights = scores.softmax(dim=-1)
        if self.observer is not None:
            self.observer(weights)
        return self._join(F.dropout(weights, self.dropout, self.training) @ values)
