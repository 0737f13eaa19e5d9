"""Batches of pairs: an order (see `order`), and its layout as rectangles.

With modifiers (`modifiers/`) and with subword sampling, the sentences of batch i are changed or cut into other pieces
when its arrays are built, at random from the seed and i. The stored lengths still decide which pairs are in a batch, so
a batch may then hold more tokens than the recipe allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.config.special import SpecialIds
from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.order import LengthOrder
from manyheads.data.batches.rectangles import Rectangle
from manyheads.data.batches.store import Side, Store
from manyheads.data.modifiers.modification import Modification
from manyheads.data.tokens.subword_sampling import Resampling


class PairBatch(NamedTuple):
    """One batch as rectangles padded on the right.

    `source` [B, S] ends with the end token; `target_in` [B, T] is the target shifted right, after the start token;
    `target_out` [B, T] is what the model should predict. The lengths [B] count real tokens. `pairs` [B] are indices.
    """

    source: NDArray[np.int64]
    source_lengths: NDArray[np.int64]
    target_in: NDArray[np.int64]
    target_out: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    pairs: NDArray[np.int64]


class PairBatches:
    """The endless sequence of a run's batches; `batches[i]` is always the same."""

    def __init__(
        self,
        store: Store | Mixture,
        *,
        tokens: int,
        seed: int,
        special: SpecialIds,
        modification: Modification | None = None,
        resampling: Mapping[Side, Resampling] | None = None,
    ) -> None:
        self._store = store if isinstance(store, Mixture) else Mixture([store], [1.0])
        self._seed = seed
        self._special = special
        self._modification = modification
        self._resampling = resampling or {}
        self.order = LengthOrder(
            self._store.lengths("source"),
            self._store.lengths("target"),
            tokens=tokens,
            seed=seed,
            origins=self._store.origins(),
            weights=self._store.weights,
        )

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch, in which a corpus of weight 1 is used once."""
        return self.order.per_epoch

    def __getitem__(self, index: int) -> PairBatch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        return self.layout(self.order[index], index)

    def layout(self, pairs: NDArray[np.int64], index: int) -> PairBatch:
        """Return the given pairs [B] as the arrays of batch `index`."""
        (source, source_lengths), (target, target_lengths) = self._sides(pairs, index)
        pairs = pairs[: len(source)]  # a batch that became too large has lost its last rows
        shifted = np.roll(target, 1, axis=1)
        shifted[:, 0] = self._special.start
        # The end token is never an input: without this, rows shorter than the batch would have it at their end.
        shifted[np.arange(target.shape[1]) >= target_lengths[:, None]] = self._special.pad
        return PairBatch(source, source_lengths, shifted, target, target_lengths, pairs)

    def _sides(self, pairs: NDArray[np.int64], index: int) -> tuple[Rectangle, Rectangle]:
        """Return both sides of the pairs [B], with modifiers and subword sampling applied."""
        padding = self._special.pad
        source = self._store.rows("source", pairs, padding=padding)
        target = self._store.rows("target", pairs, padding=padding)
        if self._modification is not None:
            origins = self._store.origins_of(pairs)
            source, target = self._modification(source, target, origins, padding=padding, seed=(self._seed, index))
        return self._resampled("source", source, index), self._resampled("target", target, index)

    def _resampled(self, side: Side, rows: Rectangle, index: int) -> Rectangle:
        """Return one side with subword sampling applied, if it is used on this side."""
        if side not in self._resampling:
            return rows
        return self._resampling[side](*rows, padding=self._special.pad, seed=(self._seed, index, side))
