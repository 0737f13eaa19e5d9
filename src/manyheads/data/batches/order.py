"""Which sequences make batch i: bucketed by length, shuffled reproducibly, and seekable to any step immediately.

Sequences are ranked once by a coarse length (target first, then source), and the ranks are cut into batches that hold
at most a given number of padded tokens. Because the cut depends on lengths alone, every epoch has the same number of
batches of the same sizes, so batch i of the whole run is found by division. What changes from epoch to epoch is which
sequences of one length class have its ranks, and the order of the batches; both are computed orders (see `shuffling`),
so resuming at step one million costs as much as starting.

Of several corpora (see `mixture`), each has length classes of its own. A class of n members has about weight · n ranks
in an epoch, which take its members from an endless series of shuffled passes. Each epoch continues where the previous
one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.shuffling import RandomOrder
from manyheads.errors import ManyheadsError

GRAIN = 4  # lengths within the same multiple of this are interchangeable between batches


class LengthOrder:
    """The endless sequence of a run's batches as indices; `order[i]` is always the same."""

    def __init__(
        self,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        *,
        tokens: int,
        seed: int,
        origins: NDArray[np.uint16] | None = None,
        weights: Sequence[float] = (1.0,),
    ) -> None:
        """Order sequences by their lengths on both sides [N]; `origins` [N] says which weight each one has."""
        self._seed = seed
        self._weights = weights
        longest = self._rank(source, target, np.zeros(len(source), np.uint16) if origins is None else origins)
        if longest > tokens:
            raise ManyheadsError(
                f"a sentence of {longest:,} tokens does not fit into a batch of {tokens:,}.",
                where="training.batch_tokens",
                cure="Raise it, or lower data.max_length.",
            )
        widths = np.minimum(self._class_widths, longest).astype(np.int32)
        self._cuts = _cut(np.repeat(widths, np.diff(self._rank_starts)), tokens)

    def _rank(self, source: NDArray[np.int32], target: NDArray[np.int32], origins: NDArray[np.uint16]) -> int:
        """Order the sequences by length class, give each class its ranks, and return the greatest length."""
        longest = int(max(source.max(), target.max()))
        classes = -(-target // GRAIN).astype(np.int64) << 40
        classes |= -(-source // GRAIN).astype(np.int64) << 16
        classes |= origins
        compact = np.int32 if len(classes) < 2**31 else np.int64
        self._members_by_class = np.argsort(classes, kind="stable").astype(compact)
        classes.sort()
        self._class_starts = np.flatnonzero(np.r_[True, classes[1:] != classes[:-1], True])
        kinds = classes[self._class_starts[:-1]]
        self._class_widths = np.maximum(kinds >> 40, kinds >> 16 & 0xFF_FFFF) * GRAIN
        weights = np.array(self._weights)[kinds & 0xFFFF]
        self._rank_starts = np.r_[0, _shares(np.diff(self._class_starts), weights, kinds & 0xFFFF).cumsum()]
        return longest

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch, in which a corpus of weight 1 is used once."""
        return len(self._cuts) - 1

    def classes(self) -> list[tuple[NDArray[Any], int]]:
        """Return the members of each length class, and how many ranks it has in an epoch."""
        ranks = np.diff(self._rank_starts).tolist()
        begins, ends = self._class_starts[:-1], self._class_starts[1:]
        members = (self._members_by_class[begin:end] for begin, end in zip(begins, ends, strict=True))
        return list(zip(members, ranks, strict=True))

    def __getitem__(self, index: int) -> NDArray[np.int64]:
        """Return the indices [B] of batch `index` of the run, counted from 0 through all epochs."""
        epoch, place = divmod(index, self.per_epoch)
        order = RandomOrder(self.per_epoch, self._seed, epoch)
        return self._members(int(order(np.array([place]))[0]), epoch)

    def _members(self, number: int, epoch: int) -> NDArray[np.int64]:
        """Return which sentences batch `number` of an epoch holds."""
        ranks = np.arange(self._cuts[number], self._cuts[number + 1])
        classes = np.searchsorted(self._rank_starts, ranks, side="right") - 1
        return np.concatenate(
            [
                self._draw(int(length_class), epoch, ranks[classes == length_class])
                for length_class in np.unique(classes)
            ]
        )

    def _draw(self, length_class: int, epoch: int, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the sentences at the given ranks of one class in an epoch."""
        begin, end = self._class_starts[length_class], self._class_starts[length_class + 1]
        first_rank, end_rank = self._rank_starts[length_class], self._rank_starts[length_class + 1]
        draws = epoch * int(end_rank - first_rank) + ranks - first_rank
        passes, places = np.divmod(draws, end - begin)
        members = np.empty_like(ranks)
        for number in np.unique(passes):
            order = RandomOrder(int(end - begin), self._seed, int(number), length_class)
            members[passes == number] = self._members_by_class[begin + order(places[passes == number])]
        return members


def _shares(sizes: NDArray[np.int64], weights: NDArray[np.float64], origins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many ranks each class has in an epoch: its size times its weight, but at least one.

    The rounding error is carried over to the next class of the same corpus, so that the sums are right.
    """
    remainders = dict.fromkeys(origins.tolist(), 0.0)
    shares = []
    for size, weight, origin in zip(sizes.tolist(), weights.tolist(), origins.tolist(), strict=True):
        exact = size * weight + remainders[origin]
        shares.append(max(1, round(exact)))
        remainders[origin] = exact - shares[-1]
    return np.array(shares, dtype=np.int64)


def _cut(widths: NDArray[np.int32], tokens: int) -> NDArray[np.int64]:
    """Cut ranked sentences into batches of at most `tokens` padded tokens; return the boundaries."""
    cuts = [0]
    while (begin := cuts[-1]) < len(widths):
        # The widest so far times the number so far never falls, so the last rank that fits is found by bisection.
        most = min(len(widths) - begin, tokens // int(widths[begin]))
        widest = np.maximum.accumulate(widths[begin : begin + most])
        fits = np.searchsorted(widest * np.arange(1, most + 1), tokens, side="right")
        cuts.append(begin + max(1, int(fits)))
    return np.array(cuts, dtype=np.int64)
