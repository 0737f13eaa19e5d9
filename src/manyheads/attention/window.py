"""Sliding-window attention, O(n·w): each query sees the keys at most w steps of d positions away (Longformer, §3.1).

    j ∈ { i − w·d, …, i − d, i, i + d, …, i + w·d }        the first g keys besides, if there are global ones

The sequence is cut into blocks of w positions. A query's window lies in its own block and the two beside it (one, where
it may not look ahead), so scores are products of blocks [w, 3w] and no [n, n] exists. With a dilation d, the positions
of equal remainder modulo d are sequences of their own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import weighted_sum
from manyheads.attention.pattern import PatternAttention, masked_softmax, padded
from manyheads.positions.terms import RelativeTerm


class WindowAttention(PatternAttention):
    """Each query looks at its neighbours, and at the first `global_tokens` of the sequence."""

    def __init__(self, *, window: int, dilation: int = 1, global_tokens: int = 0) -> None:
        super().__init__()
        self.window, self.dilation, self.global_tokens = window, dilation, global_tokens

    def allowed(self, queries: int, keys: int, mask: Mask, device: torch.device) -> Tensor:
        """Return who may look at whom [T, S]."""
        places = torch.arange(keys, device=device)
        apart = places - places[keys - queries :, None]
        near = (apart.abs() <= self.window * self.dilation) & (apart % self.dilation == 0)
        return near | (places < self.global_tokens)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: RelativeTerm | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        length = keys.shape[-2]
        if queries.shape[-2] == 1:
            return self._one(queries, keys, values, mask, positions)
        if queries.shape[-2] != length or length <= 2 * self.window * self.dilation:
            return self.by_definition(queries, keys, values, mask, positions)
        return self._blocks(queries, keys, values, mask, positions)

    def _one(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: RelativeTerm | None) -> Tensor:
        """Return the output of the last query alone, as in decoding: only the keys it may see are touched."""
        last = keys.shape[-2] - 1
        first = max(last % self.dilation, last - self.window * self.dilation)
        seen = sorted({*range(min(self.global_tokens, last + 1)), *range(first, last + 1, self.dilation)})
        rows = torch.tensor(seen, device=keys.device)
        scores = queries @ keys.index_select(2, rows).transpose(-2, -1) / math.sqrt(queries.shape[-1])
        apart = (rows - last)[None]
        if positions is not None:
            scores = scores + positions.scores(queries, apart)
        valid = torch.ones_like(rows, dtype=torch.bool) if mask.valid is None else mask.valid[:, None, None, rows]
        weights = masked_softmax(scores, valid.expand(scores.shape))
        return weighted_sum(weights, values.index_select(2, rows), positions, apart)

    def _blocks(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: RelativeTerm | None
    ) -> Tensor:
        """Return the outputs of a whole sequence, block by block."""
        *_, length, width = queries.shape
        layout = _Layout(length, self.window, self.dilation, mask.causal)
        own = layout.blocks(queries)  # [B, H, d, N, w, Dh]
        near_keys, near_values = layout.neighbours(keys), layout.neighbours(values)  # [B, H, d, N, 2w or 3w, Dh]
        seen = layout.seen(mask, self.global_tokens, queries.device)  # [B, 1, d, N, w, 2w or 3w]
        scores = own @ near_keys.transpose(-2, -1) / math.sqrt(width)
        apart = layout.distances(queries.device)
        if positions is not None:
            scores = scores + positions.scores(own, apart)
        if not self.global_tokens:
            weights = masked_softmax(scores, seen.expand(scores.shape))
            return layout.joined(weighted_sum(weights, near_values, positions, apart))
        far = self._global(own, keys, mask, layout, positions)
        seen = torch.cat((seen.expand(scores.shape), far.seen.expand(far.scores.shape)), dim=-1)
        weights = masked_softmax(torch.cat((scores, far.scores), dim=-1), seen)
        near, wide = weights[..., : scores.shape[-1]], weights[..., scores.shape[-1] :]
        outputs = weighted_sum(near, near_values, positions, apart)
        outputs = outputs + weighted_sum(wide, values[:, :, None, None, : self.global_tokens], positions, far.apart)
        return layout.joined(outputs)

    def _global(self, own: Tensor, keys: Tensor, mask: Mask, layout: _Layout, positions: RelativeTerm | None) -> _Far:
        """Return the scores of blocks of queries [B, H, d, N, w, Dh] over the global keys [B, H, d, N, w, g]."""
        count = self.global_tokens
        scores = own @ keys[:, :, None, None, :count].transpose(-2, -1) / math.sqrt(own.shape[-1])
        places = layout.places(own.device)  # [d, N, w]
        apart = torch.arange(count, device=own.device) - places[..., None]
        if positions is not None:
            scores = scores + positions.scores(own, apart)
        seen = (apart <= 0 if mask.causal else torch.ones_like(apart, dtype=torch.bool))[None, None]
        if mask.valid is not None:
            seen = seen & mask.valid[:, None, None, None, None, :count]
        return _Far(scores, seen, apart)


class _Far(NamedTuple):
    """Scores of the global keys, which of them may be seen, and how far away they are."""

    scores: Tensor
    seen: Tensor
    apart: Tensor


class _Layout:
    """A sequence as d interleaved ones of N blocks of w positions."""

    def __init__(self, length: int, window: int, dilation: int, causal: bool) -> None:
        self.length, self.window, self.dilation, self.causal = length, window, dilation, causal
        self.count = math.ceil(length / (window * dilation))  # N
        self.whole = self.count * window * dilation

    def blocks(self, tensor: Tensor) -> Tensor:
        """Return [B, H, n, …] as [B, H, d, N, w, …]."""
        tensor = padded(tensor, self.whole, dim=2)
        apart = tensor.reshape(*tensor.shape[:2], self.count, self.window, self.dilation, *tensor.shape[3:])
        return apart.movedim(4, 2)

    def neighbours(self, tensor: Tensor) -> Tensor:
        """Return [B, H, n, …] as each block with the one before it, and the one after it where one may look ahead."""
        blocks = self.blocks(tensor)
        edge = torch.zeros_like(blocks[:, :, :, :1])
        before = torch.cat((edge, blocks[:, :, :, :-1]), dim=3)
        parts = [before, blocks]
        if not self.causal:
            parts.append(torch.cat((blocks[:, :, :, 1:], edge), dim=3))
        return torch.cat(parts, dim=4)

    def joined(self, blocks: Tensor) -> Tensor:
        """Return [B, H, d, N, w, …] as [B, H, n, …] again."""
        return blocks.movedim(2, 4).flatten(2, 4)[:, :, : self.length]

    def places(self, device: torch.device) -> Tensor:
        """Return where each query of each block stands [d, N, w]."""
        places = torch.arange(self.whole, device=device)
        return places.view(self.count, self.window, self.dilation).movedim(2, 0)

    def distances(self, device: torch.device) -> Tensor:
        """Return the distances between a block's queries and its neighbours' keys [1, 1, w, 2w or 3w]."""
        own = torch.arange(self.window, device=device)
        keys = torch.arange((2 if self.causal else 3) * self.window, device=device) - self.window
        return ((keys - own[:, None]) * self.dilation)[None, None]

    def seen(self, mask: Mask, global_tokens: int, device: torch.device) -> Tensor:
        """Return which of the neighbours' keys each query may see [B or 1, 1, d, N, w, 2w or 3w]."""
        apart = self.distances(device)
        near = apart.abs() <= self.window * self.dilation
        if self.causal:
            near = near & (apart <= 0)
        exists = torch.ones(1, self.length, dtype=torch.bool, device=device) if mask.valid is None else mask.valid
        exists = exists.clone()
        exists[:, :global_tokens] = False  # these are looked at apart
        return near & self.neighbours(exists[:, None])[..., None, :]
