"""Work that does not block training: one task at a time, in order, in a second thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Background:
    """One thread; an exception in it is raised in the caller, at the next `start` or `finish`."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._latest: Future[None] | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Start a task once the previous one is done."""
        self.finish()
        self._latest = self._thread.submit(work)

    def finish(self) -> None:
        """Wait for the task that is running, if there is one."""
        if self._latest is not None:
            latest, self._latest = self._latest, None
            latest.result()

    def close(self) -> None:
        """Wait for the last task and end the thread."""
        try:
            self.finish()
        finally:
            self._thread.shutdown()
