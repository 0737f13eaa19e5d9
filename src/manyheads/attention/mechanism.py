"""What happens inside a head, in one interface: queries, keys, values and a mask in, outputs out.

Every mechanism also gives the weights that it uses, as one matrix, for whoever looks inside. Those that never hold such
a matrix compute it for that alone.
"""

from __future__ import annotations

from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.positions.interface import AttentionPositions, distances_of


class Mechanism(nn.Module):
    """One attention for all heads at once."""

    keys_are_queries = False  # whether keys are compared as what they ask for, as hashing does

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        raise NotImplementedError

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weights [B, H, T, S] with which the values are averaged."""
        raise NotImplementedError

    def at_step(self, step: int) -> None:
        """Hear which training step comes, for what is drawn anew from time to time."""

    def new_cache(self) -> Cache:
        """Return what is remembered of the past before the first step of decoding."""
        return Cache()

    def step(
        self, queries: Tensor, new: KeysValues, cache: Cache, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries over the past and the new keys and values [B, H, T, Dh]."""
        keys, values = cache.append(new)
        return self(queries, keys, values, mask, positions)


def weighted_sum(
    weights: Tensor, values: Tensor, positions: AttentionPositions | None = None, distances: Tensor | None = None
) -> Tensor:
    """Return values [B, H, …, S, Dh] averaged by weights [B, H, …, T, S], and what relative positions add to them.

    Without distances […, T, S], the last query is at the position of the last key.
    """
    outputs = weights @ values
    if positions is None:
        return outputs
    term = positions.outputs(weights, distances_of(weights) if distances is None else distances)
    return outputs if term is None else outputs + term
