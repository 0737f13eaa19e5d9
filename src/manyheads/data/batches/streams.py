"""Batches of running text: rows that continue from batch to batch.

A text of N tokens is cut into L lanes of equal length, which are read side by side, a piece of `length` tokens of each
in every update. Row r of update n+1 continues where row r of update n ended, so that a model may carry state from one
to the next. At the end of the lanes, the next epoch begins: the lanes start a few tokens later each time (a random
number), so that the text is cut at different places.

An update reads all L lanes, with any number of batches: with P batches per update, each takes L/P neighbouring lanes.
So any number of processes and accumulations reads the same text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.errors import ManyheadsError


class StreamBatch(NamedTuple):
    """A piece of each of B lanes: `inputs` and the tokens that follow them, `targets`, [B, T] each.

    `lanes` [B] are the indices of the lanes. `begins` is true if the lanes begin here, so that no state is carried.
    """

    inputs: NDArray[np.int64]
    targets: NDArray[np.int64]
    lanes: NDArray[np.int64]
    begins: bool


class StreamBatches:
    """The endless sequence of a run's batches; `batches[i]` is always the same."""

    def __init__(
        self, ids: NDArray[np.integer], *, lanes: int, length: int, seed: int, per_update: int = 1, shifts: bool = True
    ) -> None:
        """Read the ids [N] in lanes, in pieces of `length`; an update has `per_update` batches."""
        if lanes % per_update:
            raise ManyheadsError(
                f"{lanes} lanes cannot be shared by {per_update} batches of an update.",
                where="training.batch_tokens",
                cure=f"Choose it so that the lanes of an update are a multiple of {per_update}.",
            )
        self._ids = ids
        self.lanes, self.length, self.per_update = lanes, length, per_update
        self._seed, self._shifts = seed, shifts
        # Each lane also needs the token that follows its last one, and room for the shift of an epoch.
        room = (len(ids) - 1) // lanes - (length - 1 if shifts else 0)
        self.pieces = room // length
        if self.pieces < 1:
            raise ManyheadsError(
                f"a text of {len(ids):,} tokens is too short for {lanes} lanes of {length} tokens.",
                where="training.batch_tokens",
                cure="Lower it, or data.length, or read more text.",
            )

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch."""
        return self.pieces * self.per_update

    def __getitem__(self, index: int) -> StreamBatch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        update, share = divmod(index, self.per_update)
        epoch, piece = divmod(update, self.pieces)
        rows = self.lanes // self.per_update
        lanes = np.arange(share * rows, (share + 1) * rows)
        starts = lanes * ((len(self._ids) - 1) // self.lanes) + self._shift(epoch) + piece * self.length
        places = starts[:, None] + np.arange(self.length + 1)
        text = self._ids[places].astype(np.int64)
        return StreamBatch(text[:, :-1], text[:, 1:], lanes, begins=piece == 0)

    def _shift(self, epoch: int) -> int:
        """Return how many tokens later than its first one each lane begins in an epoch."""
        if not self._shifts:
            return 0
        return int(np.random.default_rng((self._seed % (1 << 32), epoch)).integers(self.length))
