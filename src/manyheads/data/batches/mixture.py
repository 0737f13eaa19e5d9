"""Several stores that are trained on as one, each in proportion to its weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.store import Side, Tally


class Rows(Protocol):
    """Numbered pairs of token sequences that can be mixed, on disk (`Store`) or in memory."""

    @property
    def tally(self) -> Tally:
        """How many pairs were kept and left out."""
        ...

    def __len__(self) -> int: ...

    def lengths(self, side: Side) -> NDArray[np.int32]:
        """Return the number of tokens of each sequence of a side: [pairs]."""
        ...

    def tokens(self, side: Side) -> int:
        """Return the total number of tokens of a side."""
        ...

    def rows(
        self, side: Side, indices: NDArray[np.int64], *, padding: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sequences at the indices [B] as one rectangle of ids [B, S], and their lengths [B]."""
        ...


class Mixture:
    """Concatenated stores: the numbers of the second store's pairs follow those of the first, and so on."""

    def __init__(self, stores: Sequence[Rows], weights: Sequence[float]) -> None:
        assert len(stores) == len(weights) > 0
        self.stores = tuple(stores)
        self.weights = tuple(weights)
        self._starts = np.cumsum([0, *map(len, stores)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def tally(self) -> Tally:
        """How many pairs of all corpora were kept and left out; only the tallies of the stores have line numbers."""
        each = [store.tally for store in self.stores]
        return Tally(
            pairs=sum(tally.pairs for tally in each),
            empty=sum(tally.empty for tally in each),
            too_long=sum(tally.too_long for tally in each),
        )

    def origins(self) -> NDArray[np.uint16]:
        """Return the index of each pair's store: [pairs]."""
        return np.repeat(np.arange(len(self.stores), dtype=np.uint16), np.diff(self._starts))

    def origins_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the store of each of the pairs at the indices [B]: [B]."""
        return np.searchsorted(self._starts, indices, side="right") - 1

    def lengths(self, side: Side) -> NDArray[np.int32]:
        """Return the number of tokens of each sentence of a side, the end token included: [pairs]."""
        return np.concatenate([store.lengths(side) for store in self.stores])

    def tokens(self, side: Side) -> int:
        """Return the total number of tokens of a side."""
        return sum(store.tokens(side) for store in self.stores)

    def rows(
        self, side: Side, indices: NDArray[np.int64], *, padding: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sentences at the indices [B] as one rectangle of ids [B, S], and their lengths [B]."""
        origins = self.origins_of(indices)
        parts = []
        for origin in np.unique(origins):
            here = np.flatnonzero(origins == origin)
            parts.append((here, *self.stores[origin].rows(side, indices[here] - self._starts[origin], padding=padding)))
        rectangle = np.full((len(indices), max(ids.shape[1] for _, ids, _ in parts)), padding, dtype=np.int64)
        lengths = np.empty(len(indices), dtype=np.int64)
        for here, ids, sizes in parts:
            rectangle[here, : ids.shape[1]] = ids
            lengths[here] = sizes
        return rectangle, lengths
