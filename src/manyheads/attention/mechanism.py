"""The interface of what happens inside the heads: queries, keys, values and a mask in, outputs out.

Every mechanism also returns the weights that it uses, as one matrix, for recording. Mechanisms that avoid this matrix
compute it only then.
"""

from __future__ import annotations

from torch import Tensor

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.attention.scheduled import Scheduled
from manyheads.positions.interface import AttentionPositions, distances_of


class Mechanism(Scheduled):
    """An attention function that is applied to all heads at once."""

    keys_are_queries = False  # whether one projection serves as queries and as keys

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        raise NotImplementedError

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weights [B, H, T, S] with which the values are averaged."""
        raise NotImplementedError

    def new_cache(self) -> Cache:
        """Return an empty cache for decoding."""
        return Cache()

    def step(
        self, queries: Tensor, new: KeysValues, cache: Cache, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries over the cached and the new keys and values [B, H, T, Dh]."""
        keys, values = cache.append(new)
        return self(queries, keys, values, mask, positions)


def weighted_sum(
    weights: Tensor, values: Tensor, positions: AttentionPositions | None = None, distances: Tensor | None = None
) -> Tensor:
    """Return weights [B, H, …, T, S] times values [B, H, …, S, Dh], plus the term that positions add to the outputs.

    Without distances […, T, S], the last query is at the position of the last key.
    """
    outputs = weights @ values
    if positions is None:
        return outputs
    term = positions.outputs(weights, distances_of(weights) if distances is None else distances)
    return outputs if term is None else outputs + term
