"""Attention among similar keys by locality-sensitive hashing (Reformer, Kitaev et al. 2020), O(n log n).

    h(x) = argmax([x·R; −x·R])        R random: vectors of similar direction fall into the same bucket

Queries and keys share one projection, k_j = q_j / |q_j|, so that similar ones are in the same bucket. Positions are
sorted by bucket and split into chunks of c. A query attends to the keys of its bucket in its own chunk and in the
previous one. It attends to itself only if there is no other key, since no key is more similar. Several rounds with
different R reduce the chance that similar positions are separated; numerators and denominators are summed over the
rounds before the division.

The order of the positions depends on the whole sequence, including padding and future tokens. Outputs are therefore
exactly independent of these only where the sequence fits into one chunk. A single query over cached keys attends to all
of them.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from manyheads.attention.kernel import append_one, normalised
from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.attention.pattern import padded
from manyheads.positions.interface import AttentionPositions, distances_of

SELF_SCORE = -1e5  # added to the score of a query with itself: far below all other scores, but above −∞


class HashingAttention(Mechanism):
    """Each query attends to the keys of its own bucket."""

    keys_are_queries = True

    def __init__(self, *, chunk: int, rounds: int, seed: int = 0) -> None:
        super().__init__()
        self.chunk, self.rounds, self.seed = chunk, rounds, seed

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        if self._is_one_chunk(queries, keys):
            return self._full(queries, keys, mask) @ values
        return _zero_padding(normalised(self._rounds(queries, keys, mask).sums(append_one(values))), mask)

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weights [B, H, T, S], combined over all rounds."""
        if self._is_one_chunk(queries, keys):
            return self._full(queries, keys, mask)
        found = self._rounds(queries, keys, mask).dense()
        return _zero_padding(found / found.sum(dim=-1, keepdim=True), mask)

    def _is_one_chunk(self, queries: Tensor, keys: Tensor) -> bool:
        """Return whether every query is compared with every key."""
        return queries.shape[-2] != keys.shape[-2] or keys.shape[-2] <= self.chunk

    def _full(self, queries: Tensor, keys: Tensor, mask: Mask) -> Tensor:
        """Return the weights of full attention with shared, normalised keys [B, H, T, S]."""
        scores = queries @ _unit_vectors(keys).transpose(-2, -1) / math.sqrt(queries.shape[-1])
        scores = scores + SELF_SCORE * (distances_of(scores) == 0)
        additive = mask.additive(queries, keys.shape[-2])
        if additive is None:
            return scores.softmax(dim=-1)
        weights = (scores + additive.bias).softmax(dim=-1)
        return weights if additive.fully_masked is None else weights.masked_fill(additive.fully_masked, 0.0)

    def _rounds(self, queries: Tensor, keys: Tensor, mask: Mask) -> _Rounds:
        """Hash, sort and compare in each round with different random vectors."""
        length = queries.shape[-2]
        padded_length = -(-length // self.chunk) * self.chunk
        valid = torch.ones(1, length, dtype=torch.bool, device=queries.device) if mask.valid is None else mask.valid
        valid = padded(valid, padded_length, dim=1)[:, None]  # [B or 1, 1, n]
        query_vectors = padded(queries / math.sqrt(queries.shape[-1]), padded_length, dim=2)
        key_vectors = padded(_unit_vectors(keys), padded_length, dim=2)
        indices = torch.arange(padded_length, device=queries.device)
        found = []
        for number in range(self.rounds):
            buckets = torch.where(valid, self.buckets_of(query_vectors, number), padded_length)  # padding comes last
            order = (buckets * padded_length + indices).argsort(dim=-1)  # [B, H, n]
            chunks = _Chunks(order, self.chunk, length)
            added = chunks.score_terms(buckets, causal=mask.causal, dtype=query_vectors.dtype)
            near = chunks.neighbours(chunks.sort(key_vectors))
            found.append(_Round(chunks, chunks.blocks(chunks.sort(query_vectors)), near, added))
        return _Rounds(found)

    def buckets_of(self, vectors: Tensor, number: int) -> Tensor:
        """Return the bucket of each vector [B, H, n]; there are about as many buckets as chunks."""
        half = max(1, round(vectors.shape[-2] / self.chunk / 2))
        generator = torch.Generator("cpu").manual_seed(self.seed + 104729 * number + half)
        rotations = torch.randn(vectors.shape[-1], half, generator=generator, device="cpu").to(vectors)
        projected = vectors.detach() @ rotations
        best = projected.abs().argmax(dim=-1, keepdim=True)
        return (best + half * (projected.gather(-1, best) < 0)).squeeze(-1)


class _Chunks:
    """A sequence sorted by bucket [B, H, n] and split into chunks."""

    def __init__(self, order: Tensor, size: int, length: int) -> None:
        self.order, self.size, self.length = order, size, length
        indices = torch.arange(order.shape[-1], device=order.device).expand_as(order)
        inverse = torch.empty_like(order).scatter_(-1, order, indices)
        self._permutation, self._inverse = _flat_indices(order), _flat_indices(inverse)

    def sort(self, tensor: Tensor) -> Tensor:
        """Sort [B, H, n, D] by bucket."""
        return _permute_rows(tensor, self._permutation, self._inverse)

    def restore(self, blocks: Tensor) -> Tensor:
        """Return chunks [B, H, N, c, D] in the original order [B, H, n, D]."""
        return _permute_rows(blocks.flatten(2, 3), self._inverse, self._permutation)[:, :, : self.length]

    def blocks(self, tensor: Tensor) -> Tensor:
        """Split [B, H, n, …] into chunks [B, H, N, c, …]."""
        return tensor.reshape(*tensor.shape[:2], -1, self.size, *tensor.shape[3:])

    def neighbours(self, tensor: Tensor) -> Tensor:
        """Return each chunk of [B, H, n, …] after the previous one [B, H, N, 2c, …]; the first follows the last."""
        chunks = self.blocks(tensor)
        return torch.cat((chunks.roll(1, dims=2), chunks), dim=3)

    def score_terms(self, buckets: Tensor, *, causal: bool, dtype: torch.dtype) -> Tensor:
        """Return what is added to scores [B, H, N, c, 2c]: −∞ for other buckets and the future, and `SELF_SCORE`.

        Padding has a bucket of its own, so that the weights of padded queries are finite. Their outputs are not used.
        """
        index, key_index = self.blocks(self.order)[..., None], self.neighbours(self.order)[..., None, :]
        sorted_buckets = buckets.gather(-1, self.order)
        hidden = self.blocks(sorted_buckets)[..., None] != self.neighbours(sorted_buckets)[..., None, :]
        if causal:
            hidden |= key_index > index
        added = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
        return added.masked_fill_(hidden, -torch.inf).masked_fill_(index == key_index, SELF_SCORE)


class _Round:
    """The similarities of one round: exp(scores − m) within chunks, where m is the largest score of each query."""

    def __init__(self, chunks: _Chunks, queries: Tensor, keys: Tensor, added: Tensor) -> None:
        """Compare queries [B, H, N, c, Dh] with keys [B, H, N, 2c, Dh]."""
        self._chunks = chunks
        flat = torch.baddbmm(added.flatten(0, 2), queries.flatten(0, 2), keys.flatten(0, 2).transpose(-2, -1))
        largest = flat.detach().amax(dim=-1, keepdim=True)
        self._similarities = flat.sub_(largest).exp_().view(added.shape)
        self.largest = chunks.restore(largest.view(*added.shape[:-1], 1))  # [B, H, n, 1]

    def sums(self, values: Tensor) -> Tensor:
        """Return the sums of values [B, H, n, D], weighted by similarity."""
        chunks = self._chunks
        near = chunks.neighbours(chunks.sort(padded(values, chunks.order.shape[-1], dim=2)))
        return chunks.restore(self._similarities @ near)

    def dense(self) -> Tensor:
        """Return the similarities as one matrix [B, H, n, n]."""
        chunks = self._chunks
        indices = chunks.neighbours(chunks.order)[..., None, :].expand(self._similarities.shape)
        rows = self._similarities.new_zeros(*self._similarities.shape[:-1], chunks.order.shape[-1])
        return chunks.restore(rows.scatter_add(-1, indices, self._similarities))[..., : chunks.length]


class _Rounds:
    """Several rounds on a common scale."""

    def __init__(self, rounds: list[_Round]) -> None:
        self._rounds = rounds
        scales = torch.stack([one.largest for one in rounds])
        self._factors = (scales - scales.amax(dim=0)).exp()  # [rounds, B, H, n, 1]

    def sums(self, values: Tensor) -> Tensor:
        """Return the sums of values [B, H, n, D], weighted by similarity, over all rounds."""
        return self._total([one.sums(values) for one in self._rounds])

    def dense(self) -> Tensor:
        """Return the sum of the similarities of all rounds as one matrix [B, H, n, n]."""
        return self._total([one.dense() for one in self._rounds])

    def _total(self, found: list[Tensor]) -> Tensor:
        """Add the results of the rounds on their common scale."""
        total = self._factors[0] * found[0]
        for factor, one in zip(self._factors[1:], found[1:], strict=True):
            total = total + factor * one
        return total


def _flat_indices(order: Tensor) -> Tensor:
    """Return an order of positions [B, H, n] as row indices [B·H·n] into the flattened batch."""
    count = order.shape[-1]
    first = count * torch.arange(order.shape[0] * order.shape[1], device=order.device)
    return (first.view(*order.shape[:2], 1) + order).flatten()


def _permute_rows(tensor: Tensor, permutation: Tensor, inverse: Tensor) -> Tensor:
    """Permute the rows of [B, H, n, D] by flat indices [B·H·n]; `inverse` is the inverse permutation."""
    return _PermuteRows.apply(tensor, permutation, inverse)


class _PermuteRows(torch.autograd.Function):
    """A permutation of rows. Its backward pass gathers by the inverse permutation; nothing has to be accumulated."""

    @staticmethod
    def forward(context: Any, tensor: Tensor, permutation: Tensor, inverse: Tensor) -> Tensor:  # noqa: ANN401
        """Gather the rows."""
        context.save_for_backward(permutation, inverse)
        return tensor.reshape(-1, tensor.shape[-1]).index_select(0, permutation).view(tensor.shape)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        """Gather their gradients."""
        permutation, inverse = context.saved_tensors
        return _permute_rows(gradients[0], inverse, permutation), None, None


def _zero_padding(tensor: Tensor, mask: Mask) -> Tensor:
    """Set the rows of [B, H, n, …] that belong to padding to zero."""
    return tensor if mask.valid is None else tensor.masked_fill(~mask.valid[:, None, :, None], 0.0)


def _unit_vectors(vectors: Tensor) -> Tensor:
    """Scale vectors to unit length."""
    return torch.nn.functional.normalize(vectors, dim=-1)
