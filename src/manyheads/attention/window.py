"""Sliding-window attention, O(n·w): a query attends to keys at most w steps of d positions away (Longformer, §3.1).

    j ∈ { i − w·d, …, i − d, i, i + d, …, i + w·d }        and the first g keys, if there are global tokens

The sequence is split into blocks of w positions. A query's window lies in its own block and the two adjacent ones (only
the previous one if the mask is causal), so scores are products of blocks [w, 3w], and no [n, n] matrix is computed.
With a dilation d, the positions of equal remainder modulo d are treated as separate sequences.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import weighted_sum
from manyheads.attention.pattern import PatternAttention, attend, masked_softmax, padded
from manyheads.positions.interface import AttentionPositions


class WindowAttention(PatternAttention):
    """Each query attends to its neighbours and to the first `global_tokens` of the sequence."""

    def __init__(self, *, window: int, dilation: int = 1, global_tokens: int = 0) -> None:
        super().__init__()
        self.window, self.dilation, self.global_tokens = window, dilation, global_tokens

    def allowed(self, queries: int, keys: int, mask: Mask, device: torch.device) -> Tensor:
        """Return which keys each query may attend to [T, S]."""
        indices = torch.arange(keys, device=device)
        distances = indices - indices[keys - queries :, None]
        near = (distances.abs() <= self.window * self.dilation) & (distances % self.dilation == 0)
        return near | (indices < self.global_tokens)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        length = keys.shape[-2]
        if queries.shape[-2] == 1:
            return self._last_query(queries, keys, values, mask, positions)
        if queries.shape[-2] != length or length <= 2 * self.window * self.dilation:
            return self.by_definition(queries, keys, values, mask, positions)
        return self.by_blocks(queries, keys, values, mask, positions)

    def _last_query(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None
    ) -> Tensor:
        """Return the output of the last query only, as in decoding; keys outside its window are not read."""
        last = keys.shape[-2] - 1
        first = max(last % self.dilation, last - self.window * self.dilation)
        chosen = sorted({*range(min(self.global_tokens, last + 1)), *range(first, last + 1, self.dilation)})
        rows = torch.tensor(chosen, device=keys.device)
        keys, values = keys.index_select(2, rows), values.index_select(2, rows)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        distances = (rows - last)[None]
        if positions is not None:
            scores = scores + positions.scores(queries, keys, distances)
        valid = torch.ones_like(rows, dtype=torch.bool) if mask.valid is None else mask.valid[:, None, None, rows]
        weights = masked_softmax(scores, valid.expand(scores.shape))
        return weighted_sum(weights, values, positions, distances)

    def by_blocks(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None
    ) -> Tensor:
        """Return the outputs of a whole sequence, computed in blocks."""
        layout = _Layout(queries.shape[-2], self.window, self.dilation, mask.causal)
        query_blocks = layout.blocks(queries)  # [B, H, d, N, w, Dh]
        near_keys, near_values = layout.neighbours(keys), layout.neighbours(values)  # [B, H, d, N, 2w or 3w, Dh]
        visible = layout.visible(mask, self.global_tokens, queries.device)  # [B or 1, 1, d, N, w, 2w or 3w]
        distances = layout.distances(queries.device)
        if self.global_tokens:
            first = layout.global_keys(self.global_tokens, mask, queries.device)
            near_keys, near_values = (
                _append_first(near, every, self.global_tokens)
                for near, every in ((near_keys, keys), (near_values, values))
            )
            visible, distances = _concatenate(visible, first.visible), _concatenate(distances, first.distances)
        return layout.merged(attend(query_blocks, near_keys, near_values, visible, positions, distances))


class _GlobalKeys(NamedTuple):
    """Which of the global keys are visible [B or 1, 1, d, N, w, g], and their distances [d, N, w, g]."""

    visible: Tensor
    distances: Tensor


def _append_first(blocks: Tensor, every: Tensor, count: int) -> Tensor:
    """Append the first `count` rows of a sequence [B, H, n, Dh] to each of the blocks [B, H, d, N, S, Dh]."""
    first = every[:, :, None, None, :count]
    return torch.cat((blocks, first.expand(*blocks.shape[:4], -1, -1)), dim=4)


def _concatenate(one: Tensor, other: Tensor) -> Tensor:
    """Concatenate two tensors along the last dimension after broadcasting the others."""
    shape = torch.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    return torch.cat((one.expand(*shape, -1), other.expand(*shape, -1)), dim=-1)


class _Layout:
    """A sequence as d interleaved sequences of N blocks of w positions."""

    def __init__(self, length: int, window: int, dilation: int, causal: bool) -> None:
        self.length, self.window, self.dilation, self.causal = length, window, dilation, causal
        self.count = math.ceil(length / (window * dilation))  # N
        self.padded_length = self.count * window * dilation

    def blocks(self, tensor: Tensor) -> Tensor:
        """Reshape [B, H, n, …] to [B, H, d, N, w, …]."""
        tensor = padded(tensor, self.padded_length, dim=2)
        split = tensor.reshape(*tensor.shape[:2], self.count, self.window, self.dilation, *tensor.shape[3:])
        return split.movedim(4, 2)

    def neighbours(self, tensor: Tensor) -> Tensor:
        """Return each block of [B, H, n, …] with the previous one and, unless causal, the next one."""
        blocks = self.blocks(tensor)
        empty = torch.zeros_like(blocks[:, :, :, :1])
        padded_blocks = torch.cat((empty, blocks) if self.causal else (empty, blocks, empty), dim=3)
        return _Sliding.apply(padded_blocks, 2 if self.causal else 3)

    def merged(self, blocks: Tensor) -> Tensor:
        """Reshape [B, H, d, N, w, …] back to [B, H, n, …]."""
        return blocks.movedim(2, 4).flatten(2, 4)[:, :, : self.length]

    def indices(self, device: torch.device) -> Tensor:
        """Return the position of each query of each block [d, N, w]."""
        indices = torch.arange(self.padded_length, device=device)
        return indices.view(self.count, self.window, self.dilation).movedim(2, 0)

    def distances(self, device: torch.device) -> Tensor:
        """Return the distances between a block's queries and its neighbours' keys [1, 1, w, 2w or 3w]."""
        own = torch.arange(self.window, device=device)
        keys = torch.arange((2 if self.causal else 3) * self.window, device=device) - self.window
        return ((keys - own[:, None]) * self.dilation)[None, None]

    def global_keys(self, count: int, mask: Mask, device: torch.device) -> _GlobalKeys:
        """Return the visibility and the distances of the first `count` keys."""
        distances = torch.arange(count, device=device) - self.indices(device)[..., None]
        visible = (distances <= 0 if self.causal else torch.ones_like(distances, dtype=torch.bool))[None, None]
        if mask.valid is not None:
            visible = visible & mask.valid[:, None, None, None, None, :count]
        return _GlobalKeys(visible, distances)

    def visible(self, mask: Mask, global_tokens: int, device: torch.device) -> Tensor:
        """Return which of the neighbours' keys are visible to each query [B or 1, 1, d, N, w, 2w or 3w]."""
        distances = self.distances(device)
        near = distances.abs() <= self.window * self.dilation
        if self.causal:
            near = near & (distances <= 0)
        exists = torch.ones(1, self.length, dtype=torch.bool, device=device) if mask.valid is None else mask.valid
        exists = exists.clone()
        exists[:, :global_tokens] = False  # attended to separately
        return near & self.neighbours(exists[:, None])[..., None, :]


class _Sliding(torch.autograd.Function):
    """Sliding windows of `count` blocks: [B, H, d, M, w, …] as [B, H, d, N, count·w, …], without copying.

    PyTorch's own backward pass accumulates gradients element by element; this one does so in whole blocks.
    """

    @staticmethod
    def forward(context: Any, blocks: Tensor, count: int) -> Tensor:  # noqa: ANN401
        """Return overlapping views of the same memory."""
        context.shape, context.count = blocks.shape, count
        return blocks.flatten(3, 4).unfold(3, count * blocks.shape[4], blocks.shape[4]).movedim(-1, 4)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Add the gradients of all views of a block."""
        back = gradients[0].new_zeros(context.shape)
        for offset, part in enumerate(gradients[0].chunk(context.count, dim=4)):  # [B, H, d, N, w, …]
            back[:, :, :, offset : offset + part.shape[3]] += part
        return back, None
