"""BigBird (Zaheer et al. 2020), O(n): each block of queries attends to a few blocks of keys.

    global  the first g blocks, which attend to all blocks and to which all blocks attend
    local   the block itself and the adjacent ones
    random  r other blocks, always the same ones

The blocks of keys are gathered, and [b, (g + 3 + r)·b] scores are computed for each block of queries. The random blocks
follow from a hash of both block numbers: a query block takes the r key blocks with the largest hashes among those of
its sentence (of its past, if the mask is causal). The choice therefore does not depend on the padding.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.pattern import PatternAttention, attend, attend_globally, padded
from manyheads.positions.interface import AttentionPositions

LOCAL = (-1, 0, 1)  # offsets of a block and its neighbours


class BigBirdAttention(PatternAttention):
    """Global, local and random blocks."""

    def __init__(self, *, block: int, random_blocks: int, global_blocks: int = 1, seed: int = 0) -> None:
        super().__init__()
        self.block, self.random_blocks, self.global_blocks, self.seed = block, random_blocks, global_blocks, seed

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        length = keys.shape[-2]
        blocks_per_query = self.global_blocks + len(LOCAL) + self.random_blocks
        if queries.shape[-2] != length or length <= blocks_per_query * self.block:
            return self.by_definition(queries, keys, values, mask, positions)
        outputs = self.by_blocks(queries, keys, values, mask, positions)
        global_length = self.global_blocks * self.block
        seen = slice(global_length if mask.causal else length)  # what queries of global blocks attend to
        first, _ = attend_globally(queries[:, :, :global_length], keys[:, :, seen], values[:, :, seen], mask, positions)
        return torch.cat((first, outputs[:, :, global_length:]), dim=2)

    def allowed(self, queries: int, keys: int, mask: Mask, device: torch.device) -> Tensor:
        """Return which keys each query may attend to [B or 1, 1, T, S]."""
        count = -(-keys // self.block)
        chosen = self._chosen(count, mask, device)
        visible = torch.zeros(len(chosen.blocks), count, count + 1, dtype=torch.bool, device=device)
        visible.scatter_(2, chosen.blocks.masked_fill(~chosen.valid, count), True)
        visible = visible[..., :count]
        visible[:, : self.global_blocks] = True
        each = visible.repeat_interleave(self.block, 1).repeat_interleave(self.block, 2)
        return each[:, None, keys - queries : keys, :keys]

    def _chosen(self, count: int, mask: Mask, device: torch.device) -> _Chosen:
        """Return the blocks of keys that each block of queries attends to."""
        numbers = torch.arange(count, device=device)
        local = numbers[:, None] + torch.tensor(LOCAL, device=device)
        fixed = torch.cat((numbers[: self.global_blocks].expand(count, -1), local), dim=1)
        is_local = torch.arange(fixed.shape[1], device=device) >= min(count, self.global_blocks)
        valid = (fixed >= 0) & (fixed < count) & ~(is_local & (fixed < self.global_blocks))
        other = (numbers >= self.global_blocks) & ((numbers - numbers[:, None]).abs() > 1)
        if mask.causal:
            valid, other = valid & (fixed <= numbers[:, None]), other & (numbers < numbers[:, None])
        counts = self._block_counts(count, mask, device)
        rank = self._hashes(count, device).masked_fill(~(other & (numbers < counts)), -1)
        best = rank.topk(min(self.random_blocks, count), dim=-1)
        fixed = fixed.clamp(0, count - 1).expand(len(counts), -1, -1)
        return _Chosen(
            torch.cat((fixed, best.indices), dim=-1),
            torch.cat((valid.expand(len(counts), -1, -1), best.values >= 0), dim=-1),
        )

    def _block_counts(self, count: int, mask: Mask, device: torch.device) -> Tensor:
        """Return the number of blocks of each sentence [B or 1, 1, 1]."""
        if mask.valid is None:
            return torch.full((1, 1, 1), count, device=device)
        return (mask.valid.sum(dim=1) + self.block - 1).div(self.block, rounding_mode="floor")[:, None, None]

    def _hashes(self, count: int, device: torch.device) -> Tensor:
        """Return a pseudo-random number for each pair of blocks [N, N], a function of their numbers and the seed."""
        numbers = torch.arange(count, device=device)
        mixed = numbers[:, None] * 2654435761 + numbers * 40503 + self.seed * 97 + 12345
        for shift, factor in ((15, 73244475), (13, 295559667), (16, 1)):
            mixed = ((mixed ^ (mixed >> shift)) * factor) & 0x7FFFFFFF
        return mixed

    def by_blocks(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None
    ) -> Tensor:
        """Return the outputs of all queries; those of global blocks are computed like any other and are not used."""
        batch, _, length, width = queries.shape
        count = -(-length // self.block)
        query_blocks, key_blocks, value_blocks = (
            padded(one, count * self.block, dim=2).view(*one.shape[:2], count, self.block, width)
            for one in (queries, keys, values)
        )
        chosen = self._chosen(count, mask, queries.device)
        blocks = chosen.blocks.expand(batch, -1, -1)
        near_keys, near_values = (_gathered(one, blocks) for one in (key_blocks, value_blocks))  # [B, H, N, m·b, Dh]
        indices = torch.arange(count * self.block, device=queries.device).view(count, self.block)
        key_indices = indices[chosen.blocks].flatten(-2)  # [B or 1, N, m·b]
        distances = None
        if positions is not None or mask.causal:
            distances = (key_indices[:, :, None] - indices[:, :, None])[:, None]  # [B or 1, 1, N, b, m·b]
        visible = self._visible(chosen, key_indices, mask, length)
        if mask.causal and distances is not None:
            visible = visible & (distances <= 0)
        return attend(query_blocks, near_keys, near_values, visible, positions, distances).flatten(2, 3)[:, :, :length]

    def _visible(self, chosen: _Chosen, key_indices: Tensor, mask: Mask, length: int) -> Tensor:
        """Return which of the gathered keys are visible, apart from causality [B or 1, 1, N, 1, m·b]."""
        exists = chosen.valid.repeat_interleave(self.block, dim=-1) & (key_indices < length)
        if mask.valid is not None:
            every = padded(mask.valid, -(-length // self.block) * self.block, dim=1)
            indices = key_indices.expand(len(every), -1, -1)
            exists = exists & every.gather(1, indices.flatten(1)).view(indices.shape)
        return exists[:, None, :, None]


class _Chosen(NamedTuple):
    """The numbers of the chosen blocks [B or 1, N, m], and which of these entries exist and are not repeated."""

    blocks: Tensor
    valid: Tensor


def _gathered(blocks: Tensor, chosen: Tensor) -> Tensor:
    """Gather the chosen ones [B, N, m] of blocks [B, H, N, b, Dh] and concatenate them: [B, H, N, m·b, Dh]."""
    batch, heads, count, block, width = blocks.shape
    # A block is one row of a matrix: rows are gathered, and their gradients accumulated, much faster than elements. The
    # head axis is inside a row because the gradient of fused attention, which is large, has this layout too.
    first = count * torch.arange(batch, device=blocks.device)[:, None, None]
    rows = blocks.movedim(1, 3).reshape(-1, block * heads * width).index_select(0, (first + chosen).flatten())
    return rows.view(batch, count, -1, heads, width).movedim(3, 1)
