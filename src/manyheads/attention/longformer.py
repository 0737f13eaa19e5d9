"""Longformer's global tokens (Beltagy et al. 2020, section 3.1): a window, and a few tokens that attend to all others.

All tokens attend to the first g tokens, through the projections of the window. The first g tokens attend to all tokens,
through a second set of projections, since a summary of the sequence needs other features than a local context. In a
decoder, global tokens attend to their past.
"""

from __future__ import annotations

from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.pattern import attend_globally, padded
from manyheads.attention.query_key_norm import QueryKeyNorm
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
        bias: bool = True,
        positions: AttentionPositions | None = None,
        query_key_norm: QueryKeyNorm | None = None,
    ) -> None:
        super().__init__(width, heads, bias=bias, mechanism=window, positions=positions, query_key_norm=query_key_norm)
        self.global_tokens = window.global_tokens
        # Stored weights have the names of these two attributes; code uses the properties `global_projection` and
        # `global_projection_bias`.
        self.global_inputs = nn.Parameter(torch.empty(3 * width, width))
        self.global_inputs_bias = nn.Parameter(torch.zeros(3 * width)) if bias else None
        for projection in self.global_projection.detach().chunk(3):
            nn.init.xavier_uniform_(projection)

    @property
    def global_projection(self) -> nn.Parameter:
        """W^Q, W^K and W^V of the global tokens as one matrix [3D, D]."""
        return self.global_inputs

    @property
    def global_projection_bias(self) -> nn.Parameter | None:
        """The biases of the three global projections [3D], or None."""
        return self.global_inputs_bias

    def new_cache(self) -> Cache:
        """Return an empty cache for both kinds of keys and values."""
        return GlobalCache()

    def _heads(self, inputs: Tensor, mask: Mask, cache: Cache | None, past: KeysValues | None = None) -> Tensor:
        """Return the output of each head [B, H, T, Dh] for inputs [B, T, D]."""
        start = 0 if cache is None else cache.length
        count = min(max(0, self.global_tokens - start), inputs.shape[1])
        if count == 0:
            return super()._heads(inputs, mask, cache, past)
        last = count if mask.causal else inputs.shape[1]
        queries, keys_values = self._global_projections(inputs[:, :last], count, start)
        if cache is not None:
            assert isinstance(cache, GlobalCache)
            keys_values = cache.global_keys_values.append(keys_values)
        global_outputs, weights = attend_globally(
            queries, keys_values.keys, keys_values.values, mask, self._terms, start=start
        )
        observer = self.observer
        if observer is not None:
            self.observer = lambda window_weights: observer(
                torch.cat((padded(weights, window_weights.shape[3], dim=3), window_weights[:, :, count:]), dim=2)
            )
        try:
            window_outputs = super()._heads(inputs, mask, cache, past)
        finally:
            self.observer = observer
        return torch.cat((global_outputs, window_outputs[:, :, count:]), dim=2)

    def _global_projections(self, inputs: Tensor, count: int, start: int) -> tuple[Tensor, KeysValues]:
        """Return queries of the first `count` inputs [B, T, D], and keys and values of all; inputs begin at `start`."""
        (queries,) = self._project_globally(inputs[:, :count], 0, 1)
        keys, values = self._project_globally(inputs, 1, 3)
        queries, keys = self._prepare(queries, keys, start)
        return queries, KeysValues(keys, values)

    def _project_globally(self, inputs: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Apply the global projections [first, last) to [B, T, D]; return one [B, H, T, Dh] for each."""
        rows = slice(first * self.width, last * self.width)
        bias = self.global_projection_bias
        projected = F.linear(inputs, self.global_projection[rows], None if bias is None else bias[rows])
        parts = projected.view(*inputs.shape[:2], last - first, self.heads, self.width // self.heads)
        return parts.permute(2, 0, 3, 1, 4).unbind()


class GlobalCache(Cache):
    """Keys and values of the window's projections and, up to the last global token, of the global projections."""

    def __init__(self) -> None:
        super().__init__()
        self.global_keys_values = Cache()

    def select(self, rows: Tensor) -> Self:
        """Return both caches of the given rows of the batch [N], in that order."""
        chosen = super().select(rows)
        chosen.global_keys_values = self.global_keys_values.select(rows)
        return chosen
