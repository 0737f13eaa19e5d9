"""A random order of n items that needs no memory: entry i is computed, not looked up.

A shuffled list of a hundred million sentences takes a gigabyte and must be drawn again to resume. A Feistel network is
a bijection on 2k-bit numbers for any round function; walking along its cycle until the value is below n makes it a
bijection on 0 … n-1. Keys come from a hash, so an order depends on its seed alone: not on the machine, not on history.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

ROUNDS = 6
Numbers = NDArray[np.uint64]


class RandomOrder:
    """A pseudo-random bijection of 0 … size-1, evaluated only for the entries that are needed."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size = size
        bits = max(2, (max(size, 2) - 1).bit_length())
        self._half = np.uint64((bits + 1) // 2)
        self._low = np.uint64((1 << int(self._half)) - 1)
        digest = hashlib.shake_128(repr((size, *seed)).encode()).digest(8 * ROUNDS)
        self._keys = np.frombuffer(digest, dtype="<u8").astype(np.uint64)

    def __call__(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items (of 0 … size-1) at the given positions of the order."""
        values = self._permute(entries.astype(np.uint64))
        outside = values >= self.size
        while outside.any():  # at most 4 in 5 are outside at first, so this ends soon
            values[outside] = self._permute(values[outside])
            outside = values >= self.size
        return values.astype(np.int64)

    def _permute(self, values: Numbers) -> Numbers:
        """Apply the Feistel rounds: (left, right) → (right, left ⊕ f(right))."""
        left, right = values >> self._half, values & self._low
        for key in self._keys:
            left, right = right, left ^ (_mix(right, key) & self._low)
        return (left << self._half) | right


def _mix(values: Numbers, key: np.uint64) -> Numbers:
    """Scramble 64-bit numbers (the finaliser of SplitMix64)."""
    mixed = (values ^ key) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
