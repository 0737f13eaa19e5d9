"""Batches by token count, bucketed by length, shuffled reproducibly, and seekable to any step at once.

Sentences are ranked once by a coarse length (target first, then source), and the ranks are cut into batches that hold
at most so many padded tokens. Because the cut depends on lengths alone, every epoch has the same number of batches of
the same sizes, so batch i of the whole run is found by division. What changes from epoch to epoch is which sentences of
one length class stand at its ranks, and the order of the batches; both are computed orders (see `shuffling`), so
resuming at step one million costs as much as starting.

Of several corpora (see `mixture`), each has length classes of its own. A class of n members has about weight · n ranks
in an epoch, which take its members from an endless row of shuffled passes: where one epoch stops, the next goes on.

With modifiers (`modifiers/`) and with subword sampling, the sentences of batch i are changed or cut into other pieces
when it is laid out, by draws that depend on the seed and on i. The batches stay those that the stored lengths make, so
one may then hold more tokens than asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.rectangles import Rectangle
from manyheads.data.batches.shuffling import RandomOrder
from manyheads.data.batches.store import Side, Store
from manyheads.data.modifiers.reading import Modification
from manyheads.data.tokens.subword_sampling import Resampling
from manyheads.errors import ManyheadsError

GRAIN = 4  # lengths within the same multiple of this are interchangeable between batches


class Batch(NamedTuple):
    """One batch as rectangles padded on the right.

    `source` [B, S] ends with the end token; `target_in` [B, T] is the target shifted right behind the start token;
    `target_out` [B, T] is what it should predict. The lengths [B] count real tokens. `pairs` [B] says which they are.
    """

    source: NDArray[np.int64]
    source_lengths: NDArray[np.int64]
    target_in: NDArray[np.int64]
    target_out: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class SpecialTokens:
    """The ids that a batch is laid out with."""

    pad: int
    start: int


class Batches:
    """The endless sequence of a run's batches; `batches[i]` is the same whenever it is asked for."""

    def __init__(
        self,
        store: Store | Mixture,
        *,
        tokens: int,
        seed: int,
        special: SpecialTokens,
        modification: Modification | None = None,
        resampling: Mapping[Side, Resampling] | None = None,
    ) -> None:
        self._store = store if isinstance(store, Mixture) else Mixture([store], [1.0])
        self._seed = seed
        self._special = special
        self._modification = modification
        self._resampling = resampling or {}
        longest = self._rank()
        if longest > tokens:
            raise ManyheadsError(
                f"a sentence of {longest:,} tokens does not fit into a batch of {tokens:,}.",
                where="training.batch_tokens",
                cure="Raise it, or lower data.max_length.",
            )
        widths = np.minimum(self._class_widths, longest).astype(np.int32)
        self._cuts = _cut(np.repeat(widths, np.diff(self._rank_starts)), tokens)

    def _rank(self) -> int:
        """Order the pairs by length class, give each class its ranks, and return the longest length there is."""
        source, target = self._store.lengths("source"), self._store.lengths("target")
        longest = int(max(source.max(), target.max()))
        classes = -(-target // GRAIN).astype(np.int64) << 40
        classes |= -(-source // GRAIN).astype(np.int64) << 16
        classes |= self._store.origins()
        del source, target  # corpora are large: nothing of their size is kept longer than it is needed
        compact = np.int32 if len(classes) < 2**31 else np.int64
        self._members_by_class = np.argsort(classes, kind="stable").astype(compact)
        classes.sort()
        self._class_starts = np.flatnonzero(np.r_[True, classes[1:] != classes[:-1], True])
        kinds = classes[self._class_starts[:-1]]
        self._class_widths = np.maximum(kinds >> 40, kinds >> 16 & 0xFF_FFFF) * GRAIN
        weights = np.array(self._store.weights)[kinds & 0xFFFF]
        self._rank_starts = np.r_[0, _shares(np.diff(self._class_starts), weights, kinds & 0xFFFF).cumsum()]
        return longest

    @property
    def per_epoch(self) -> int:
        """How many batches make an epoch, in which a corpus of weight 1 is seen once."""
        return len(self._cuts) - 1

    def __getitem__(self, index: int) -> Batch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        epoch, place = divmod(index, self.per_epoch)
        order = RandomOrder(self.per_epoch, self._seed, epoch)
        number = int(order(np.array([place]))[0])
        return self.layout(self._members(number, epoch), index)

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
        """Return which sentences stand at an epoch's ranks of one class."""
        begin, end = self._class_starts[length_class], self._class_starts[length_class + 1]
        first_rank, end_rank = self._rank_starts[length_class], self._rank_starts[length_class + 1]
        draws = epoch * int(end_rank - first_rank) + ranks - first_rank
        passes, places = np.divmod(draws, end - begin)
        members = np.empty_like(ranks)
        for one in np.unique(passes):
            order = RandomOrder(int(end - begin), self._seed, int(one), length_class)
            members[passes == one] = self._members_by_class[begin + order(places[passes == one])]
        return members

    def layout(self, pairs: NDArray[np.int64], index: int) -> Batch:
        """Lay the given pairs [B] out as batch `index`."""
        (source, source_lengths), (target, target_lengths) = self._sides(pairs, index)
        pairs = pairs[: len(source)]  # a batch that outgrew its size has lost its last rows
        shifted = np.roll(target, 1, axis=1)
        shifted[:, 0] = self._special.start
        # The end token is never an input: a row that is shorter than the batch would carry it at its end.
        shifted[np.arange(target.shape[1]) >= target_lengths[:, None]] = self._special.pad
        return Batch(source, source_lengths, shifted, target, target_lengths, pairs)

    def _sides(self, pairs: NDArray[np.int64], index: int) -> tuple[Rectangle, Rectangle]:
        """Return both sides of the pairs [B], changed and cut into other pieces where that was asked for."""
        padding = self._special.pad
        source = self._store.rows("source", pairs, padding=padding)
        target = self._store.rows("target", pairs, padding=padding)
        if self._modification is not None:
            origins = self._store.origins_of(pairs)
            source, target = self._modification(source, target, origins, padding=padding, seed=(self._seed, index))
        return self._resampled("source", source, index), self._resampled("target", target, index)

    def _resampled(self, side: Side, rows: Rectangle, index: int) -> Rectangle:
        """Return one side in other pieces, where its subwords are sampled."""
        if side not in self._resampling:
            return rows
        return self._resampling[side](*rows, padding=self._special.pad, seed=(self._seed, index, side))


def _shares(sizes: NDArray[np.int64], weights: NDArray[np.float64], origins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many ranks each class has in an epoch: its size times its weight, but one at least.

    What rounding adds or takes is made good by the next class of the same corpus, so that the sums are right.
    """
    owed = dict.fromkeys(origins.tolist(), 0.0)
    shares = []
    for size, weight, origin in zip(sizes.tolist(), weights.tolist(), origins.tolist(), strict=True):
        wanted = size * weight + owed[origin]
        shares.append(max(1, round(wanted)))
        owed[origin] = wanted - shares[-1]
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
