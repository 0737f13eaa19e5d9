"""Attention among similar keys, by locality-sensitive hashing (Reformer, Kitaev et al. 2020), O(n log n).

    h(x) = argmax([x·R; −x·R])        R random: vectors of similar direction fall into the same bucket

Queries and keys are one and the same, k_j = q_j / |q_j|, so that a bucket has both. Positions are sorted by bucket and
cut into chunks of c; a query looks at the keys of its bucket in its chunk and in the one before. It looks at itself
only where there is nothing else, since nothing is as similar. Several rounds with other R make it rarer that similar
ones miss each other; they are weighed by the sums of their exponentials.

How a sequence falls into buckets depends on all of it, the padding and the future included, so only what fits into one
chunk has an output that is exactly independent of these. One query against a remembered past looks at all of it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.attention.pattern import padded
from manyheads.positions.terms import RelativeTerm, distances_of

ITSELF = -1e5  # added to the score of a query with itself: far below all others, but above nothing at all


class HashingAttention(Mechanism):
    """Each query looks at the keys of its own bucket."""

    keys_are_queries = True

    def __init__(self, *, chunk: int, rounds: int, seed: int = 0) -> None:
        super().__init__()
        self.chunk, self.rounds, self.seed = chunk, rounds, seed

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: RelativeTerm | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        if self._is_one_chunk(queries, keys):
            return self._full(queries, keys, mask) @ values
        found = [self._round(queries, keys, mask, number) for number in range(self.rounds)]
        sums = torch.stack([one.total for one in found]).softmax(dim=0)  # [rounds, B, H, n, 1]
        return sum((share * one.outputs(values) for share, one in zip(sums, found, strict=True)), torch.zeros(()))

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: RelativeTerm | None = None) -> Tensor:
        """Return the weights [B, H, T, S] of all rounds together."""
        if self._is_one_chunk(queries, keys):
            return self._full(queries, keys, mask)
        found = [self._round(queries, keys, mask, number) for number in range(self.rounds)]
        sums = torch.stack([one.total for one in found]).softmax(dim=0)
        return sum((share * one.dense() for share, one in zip(sums, found, strict=True)), torch.zeros(()))

    def _is_one_chunk(self, queries: Tensor, keys: Tensor) -> bool:
        """Whether everything is compared with everything."""
        return queries.shape[-2] != keys.shape[-2] or keys.shape[-2] <= self.chunk

    def _full(self, queries: Tensor, keys: Tensor, mask: Mask) -> Tensor:
        """Return the weights of full attention with shared, normalised keys [B, H, T, S]."""
        scores = queries @ _directions(keys).transpose(-2, -1) / math.sqrt(queries.shape[-1])
        scores = scores + ITSELF * (distances_of(scores) == 0)
        rendered = mask.additive(queries, keys.shape[-2])
        if rendered is None:
            return scores.softmax(dim=-1)
        weights = (scores + rendered.forbidden).softmax(dim=-1)
        return weights if rendered.blind is None else weights.masked_fill(rendered.blind, 0.0)

    def _round(self, queries: Tensor, keys: Tensor, mask: Mask, number: int) -> _Round:
        """Hash, sort, and compare within buckets."""
        length = queries.shape[-2]
        whole = -(-length // self.chunk) * self.chunk
        valid = torch.ones(1, length, dtype=torch.bool, device=queries.device) if mask.valid is None else mask.valid
        valid = padded(valid, whole, dim=1)[:, None]  # [B or 1, 1, n]
        own = padded(queries, whole, dim=2)
        buckets = torch.where(valid, self._buckets(own, number), whole)  # what is no key comes last
        order = (buckets * whole + torch.arange(whole, device=queries.device)).argsort(dim=-1)  # [B, H, n]
        chunks = _Chunks(order, self.chunk, length)
        near = chunks.neighbours(chunks.sort(_directions(padded(keys, whole, dim=2))))
        scores = chunks.blocks(chunks.sort(own)) @ near.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        place, key_place = chunks.blocks(order)[..., None], chunks.neighbours(order)[..., None, :]
        bucket = buckets.gather(-1, order)
        seen = chunks.blocks(bucket)[..., None] == chunks.neighbours(bucket)[..., None, :]
        seen = seen & (chunks.neighbours(bucket)[..., None, :] < whole)
        if mask.causal:
            seen = seen & (key_place <= place)
        scores = (scores + ITSELF * (place == key_place)).masked_fill(~seen, -torch.inf)
        return _Round(chunks, scores, seen)

    def _buckets(self, vectors: Tensor, number: int) -> Tensor:
        """Return the bucket of each vector [B, H, n], about as many buckets as chunks."""
        half = max(1, round(vectors.shape[-2] / self.chunk / 2))
        generator = torch.Generator("cpu").manual_seed(self.seed + 104729 * number + half)
        rotations = torch.randn(vectors.shape[-1], half, generator=generator, device="cpu").to(vectors)
        turned = vectors.detach() @ rotations
        return torch.cat((turned, -turned), dim=-1).argmax(dim=-1)


class _Chunks:
    """A sequence in the order of its buckets [B, H, n], cut into chunks."""

    def __init__(self, order: Tensor, size: int, length: int) -> None:
        self.order, self.size, self.length = order, size, length

    def sort(self, tensor: Tensor) -> Tensor:
        """Put [B, H, n, D] in order."""
        return tensor.gather(2, self.order[..., None].expand(*self.order.shape, tensor.shape[-1]))

    def restore(self, blocks: Tensor) -> Tensor:
        """Put chunks [B, H, N, c, D] back to where they were: [B, H, n, D]."""
        back = self.order.argsort(dim=-1)[..., None]
        joined = blocks.flatten(2, 3)
        return joined.gather(2, back.expand(joined.shape))[:, :, : self.length]

    def blocks(self, tensor: Tensor) -> Tensor:
        """Return [B, H, n, …] as chunks [B, H, N, c, …]."""
        return tensor.reshape(*tensor.shape[:2], -1, self.size, *tensor.shape[3:])

    def neighbours(self, tensor: Tensor) -> Tensor:
        """Return [B, H, n, …] as each chunk behind the one before it [B, H, N, 2c, …]; the first has the last."""
        chunks = self.blocks(tensor)
        return torch.cat((chunks.roll(1, dims=2), chunks), dim=3)


class _Round:
    """What one round of hashing found: the weights within chunks, and how much there was to find."""

    def __init__(self, chunks: _Chunks, scores: Tensor, seen: Tensor) -> None:
        self._chunks = chunks
        nothing = ~seen.any(dim=-1, keepdim=True)
        self._weights = scores.masked_fill(nothing, 0.0).softmax(dim=-1).masked_fill(nothing, 0.0)
        totals = scores.masked_fill(nothing, 2 * ITSELF).logsumexp(dim=-1, keepdim=True)
        self.total = chunks.restore(totals)  # [B, H, n, 1]

    def outputs(self, values: Tensor) -> Tensor:
        """Return the values [B, H, n, Dh] averaged by this round's weights."""
        chunks = self._chunks
        near = chunks.neighbours(chunks.sort(padded(values, chunks.order.shape[-1], dim=2)))
        return chunks.restore(self._weights @ near)

    def dense(self) -> Tensor:
        """Return this round's weights as one matrix [B, H, n, n]."""
        chunks = self._chunks
        places = chunks.neighbours(chunks.order)[..., None, :].expand(self._weights.shape)
        rows = self._weights.new_zeros(*self._weights.shape[:-1], chunks.order.shape[-1])
        return chunks.restore(rows.scatter_add(-1, places, self._weights))[..., : chunks.length]


def _directions(vectors: Tensor) -> Tensor:
    """Return vectors of unit length."""
    return torch.nn.functional.normalize(vectors, dim=-1)
