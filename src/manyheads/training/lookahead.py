"""The batches of an update, laid out while the update before is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from manyheads.tasks.interface import Batches


class Lookahead:
    """Hands out batches, and prepares those that come next in a thread."""

    def __init__(self, batches_at: Callable[[int], Batches[Any]]) -> None:
        """Hand out the batches that `batches_at` names for a step."""
        self._batches_at = batches_at
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._expected: tuple[int, Sequence[int]] | None = None
        self._ready: Future[list[Any]] | None = None

    def take(self, step: int, indices: Sequence[int], following: Sequence[int]) -> list[Any]:
        """Return the batches of a step at some indices, and begin to prepare those of the step after it."""
        if self._ready is None or self._expected != (step, indices):
            self._ready = self._thread.submit(self._load, step, indices)
        batches = self._ready.result()
        self._expected = step + 1, following
        self._ready = self._thread.submit(self._load, step + 1, following)
        return batches

    def _load(self, step: int, indices: Sequence[int]) -> list[Any]:
        """Lay batches out."""
        batches = self._batches_at(step)
        return [batches[index] for index in indices]

    def close(self) -> None:
        """End the thread; what it prepared is not needed."""
        self._thread.shutdown(cancel_futures=True)
