"""The batches of an update, laid out while the update before is computed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from manyheads.training.assignment import Endless


class Lookahead:
    """Hands out batches, and prepares those that come next in a thread."""

    def __init__(self, batches: Endless) -> None:
        self._batches = batches
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._expected: Sequence[int] = ()
        self._ready: Future[list[Any]] | None = None

    def take(self, indices: Sequence[int], following: Sequence[int]) -> list[Any]:
        """Return the batches at some indices, and begin to prepare the following ones."""
        if self._ready is None or indices != self._expected:
            self._ready = self._thread.submit(self._load, indices)
        batches = self._ready.result()
        self._expected, self._ready = following, self._thread.submit(self._load, following)
        return batches

    def _load(self, indices: Sequence[int]) -> list[Any]:
        """Lay batches out."""
        return [self._batches[index] for index in indices]

    def close(self) -> None:
        """End the thread; what it prepared is not needed."""
        self._thread.shutdown(cancel_futures=True)
