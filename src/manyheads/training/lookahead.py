"""The batches of an update, prepared while the previous update is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from manyheads.tasks.interface import Batches


class Lookahead:
    """Returns batches, and prepares the next ones in a thread."""

    def __init__(self, batches_at: Callable[[int], Batches[Any]]) -> None:
        """Take batches from `batches_at(step)`."""
        self._batches_at = batches_at
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._expected: tuple[int, Sequence[int]] | None = None
        self._ready: Future[list[Any]] | None = None

    def take(self, step: int, indices: Sequence[int], following: Sequence[int]) -> list[Any]:
        """Return the batches of a step at the given indices, and start preparing those of the next step."""
        if self._ready is None or self._expected != (step, indices):
            self._ready = self._thread.submit(self._load, step, indices)
        batches = self._ready.result()
        self._expected = step + 1, following
        self._ready = self._thread.submit(self._load, step + 1, following)
        return batches

    def _load(self, step: int, indices: Sequence[int]) -> list[Any]:
        """Build the batches of a step."""
        batches = self._batches_at(step)
        return [batches[index] for index in indices]

    def close(self) -> None:
        """End the thread and discard what it prepared."""
        self._thread.shutdown(cancel_futures=True)
