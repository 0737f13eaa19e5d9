"""Keys and values remembered while decoding, so that each step computes only its own position."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor


class KeysValues(NamedTuple):
    """Projected keys and values, each [B, H, S, Dh]."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> KeysValues:
        """Return those of the given rows of the batch [N], in that order."""
        return KeysValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))


class Cache:
    """The keys and values of the positions decoded so far, in a buffer that doubles when it is full."""

    def __init__(self) -> None:
        self.length = 0
        self._buffer: KeysValues | None = None

    def append(self, new: KeysValues) -> KeysValues:
        """Add the keys and values [B, H, T, Dh] of T new positions; return all so far [B, H, S, Dh]."""
        stop = self.length + new.keys.shape[2]
        if self._buffer is None or stop > self._buffer.keys.shape[2]:
            self._grow(new, stop)
        assert self._buffer is not None
        for kept, fresh in zip(self._buffer, new, strict=True):
            kept[:, :, self.length : stop] = fresh
        self.length = stop
        return KeysValues(*(kept[:, :, :stop] for kept in self._buffer))

    def select(self, rows: Tensor) -> Self:
        """Return the cache of the given rows of the batch [N], in that order: how a beam is reordered."""
        chosen = type(self)()
        chosen.length = self.length
        chosen._buffer = None if self._buffer is None else self._buffer.select(rows)
        return chosen

    def _grow(self, like: KeysValues, needed: int) -> None:
        """Make room for at least `needed` positions, twice as many as are there."""
        capacity = max(16, needed, 2 * self.length)
        batch, heads, _, width = like.keys.shape
        grown = KeysValues(*(part.new_empty(batch, heads, capacity, width) for part in like))
        if self._buffer is not None:
            for fresh, kept in zip(grown, self._buffer, strict=True):
                fresh[:, :, : self.length] = kept[:, :, : self.length]
        self._buffer = grown
