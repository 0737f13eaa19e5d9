"""Keys and values kept while decoding, so that each step computes those of its own position only."""

from __future__ import annotations

import copy
from typing import NamedTuple, Self

import torch
from torch import Tensor


class KeysValues(NamedTuple):
    """Projected keys and values, each [B, H, S, Dh]."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> KeysValues:
        """Return the keys and values of the given rows of the batch [N], in that order."""
        return KeysValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))

    def since(self, first: int) -> KeysValues:
        """Return the positions from `first` on."""
        return KeysValues(self.keys[:, :, first:], self.values[:, :, first:])

    def followed_by(self, other: KeysValues) -> KeysValues:
        """Return these positions, and those of `other` after them."""
        return KeysValues(torch.cat((self.keys, other.keys), dim=2), torch.cat((self.values, other.values), dim=2))


class Cache:
    """The keys and values of the positions decoded so far, in a buffer that doubles its size when it is full."""

    def __init__(self) -> None:
        self.length = 0
        self._buffer: KeysValues | None = None

    def append(self, new: KeysValues) -> KeysValues:
        """Append the keys and values [B, H, T, Dh] of T new positions; return all of them [B, H, S, Dh]."""
        stop = self.length + new.keys.shape[2]
        if self._buffer is None or stop > self._buffer.keys.shape[2]:
            self._grow(new, stop)
        assert self._buffer is not None
        for buffer, appended in zip(self._buffer, new, strict=True):
            buffer[:, :, self.length : stop] = appended
        self.length = stop
        return KeysValues(*(buffer[:, :, :stop] for buffer in self._buffer))

    def select(self, rows: Tensor) -> Self:
        """Return the cache of the given rows of the batch [N], in that order, as a beam search needs it."""
        chosen = type(self)()
        chosen.length = self.length
        chosen._buffer = None if self._buffer is None else self._buffer.select(rows)
        return chosen

    def _grow(self, like: KeysValues, needed: int) -> None:
        """Allocate room for at least `needed` positions, and for twice the present length."""
        capacity = max(16, needed, 2 * self.length)
        batch, heads, _, _ = like.keys.shape
        grown = KeysValues(*(part.new_empty(batch, heads, capacity, part.shape[-1]) for part in like))
        if self._buffer is not None:
            for larger, buffer in zip(grown, self._buffer, strict=True):
                larger[:, :, : self.length] = buffer[:, :, : self.length]
        self._buffer = grown


class RecentCache(Cache):
    """The keys and values of the last `most` positions: neither memory nor time grows with the length of a text."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def append(self, new: KeysValues) -> KeysValues:
        """Append the keys and values [B, H, T, Dh] of new positions; return them after those kept before."""
        if self._buffer is not None and self.length + new.keys.shape[2] > self._buffer.keys.shape[2]:
            self._forget()
        every = super().append(new)
        first = max(0, self.length - new.keys.shape[2] - self.most)
        return KeysValues(*(part[:, :, first:] for part in every))

    def select(self, rows: Tensor) -> Self:
        """Return the cache of the given rows of the batch [N], in that order."""
        chosen = copy.copy(self)
        chosen._buffer = None if self._buffer is None else self._buffer.select(rows)
        return chosen

    def _forget(self) -> None:
        """Move the last positions to the front of the buffer."""
        assert self._buffer is not None
        kept = min(self.length, self.most)
        for buffer in self._buffer:
            buffer[:, :, :kept] = buffer[:, :, self.length - kept : self.length].clone()
        self.length = kept
