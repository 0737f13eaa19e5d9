"""Longformer's global tokens (Beltagy et al. 2020, section 3.1): a window, and a few tokens that see everything.

The first g tokens are looked at by everybody, through the window's own projections, and look at everybody, through
projections that are theirs alone: what a summary asks for is not what a neighbour asks for. In a decoder they see their
past, which is short.
"""

from __future__ import annotations

from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.pattern import at_the_beginning, padded
from manyheads.attention.window import WindowAttention
from manyheads.positions.interface import AttentionPositions


class LongformerAttention(MultiHeadAttention):
    """Windowed self-attention with global tokens."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        window: WindowAttention,
        positions: AttentionPositions | None = None,
    ) -> None:
        super().__init__(width, heads, mechanism=window, positions=positions)
        self.global_tokens = window.global_tokens
        self.global_inputs = nn.Parameter(torch.empty(3 * width, width))
        self.global_inputs_bias = nn.Parameter(torch.zeros(3 * width))
        for projection in self.global_inputs.detach().chunk(3):
            nn.init.xavier_uniform_(projection)

    def new_cache(self) -> Cache:
        """Return what decoding remembers before its first step, for both kinds of keys."""
        return TwoCaches()

    def _heads(self, inputs: Tensor, mask: Mask, cache: Cache | None) -> Tensor:
        """Return [B, H, T, Dh] for inputs [B, T, D], those of global tokens by their own projections."""
        start = 0 if cache is None else cache.length
        count = min(max(0, self.global_tokens - start), inputs.shape[1])
        if count == 0:
            return super()._heads(inputs, mask, cache)
        last = count if mask.causal else inputs.shape[1]
        queries, seen = self._global_projections(inputs[:, :last], count, start)
        if cache is not None:
            assert isinstance(cache, TwoCaches)
            seen = cache.wide.append(seen)
        wide, weights = at_the_beginning(queries, seen.keys, seen.values, mask, self._terms, start=start)
        observer = self.observer
        if observer is not None:
            self.observer = lambda narrow: observer(
                torch.cat((padded(weights, narrow.shape[3], dim=3), narrow[:, :, count:]), dim=2)
            )
        try:
            narrow = super()._heads(inputs, mask, cache)
        finally:
            self.observer = observer
        return torch.cat((wide, narrow[:, :, count:]), dim=2)

    def _global_projections(self, inputs: Tensor, count: int, start: int) -> tuple[Tensor, KeysValues]:
        """Return queries of the first `count` inputs [B, T, D], keys and values of all; the first stands at `start`."""
        (queries,) = self._globally(inputs[:, :count], 0, 1)
        keys, values = self._globally(inputs, 1, 3)
        if self.positions is not None:
            queries, keys = self.positions.prepare(queries, keys, start)
        return queries, KeysValues(keys, values)

    def _globally(self, inputs: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Apply the global projections first…last of (query, key, value) to [B, T, D]: one [B, H, T, Dh] each."""
        rows = slice(first * self.width, last * self.width)
        projected = F.linear(inputs, self.global_inputs[rows], self.global_inputs_bias[rows])
        parts = projected.view(*inputs.shape[:2], last - first, self.heads, self.width // self.heads)
        return parts.permute(2, 0, 3, 1, 4).unbind()


class TwoCaches(Cache):
    """Keys and values by the window's projections and, until the last global token, by the global ones."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = Cache()

    def select(self, rows: Tensor) -> Self:
        """Return both caches of the given rows of the batch [N], in that order."""
        chosen = super().select(rows)
        chosen.wide = self.wide.select(rows)
        return chosen
