"""Work that need not hold up training: written in a second thread, one piece at a time, in order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Background:
    """One thread; what fails there is raised here, at the next piece of work or at the end."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._latest: Future[None] | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Begin a piece of work once the one before is done."""
        self.finish()
        self._latest = self._thread.submit(work)

    def finish(self) -> None:
        """Wait until nothing is left to do."""
        if self._latest is not None:
            latest, self._latest = self._latest, None
            latest.result()

    def close(self) -> None:
        """Finish and end the thread."""
        try:
            self.finish()
        finally:
            self._thread.shutdown()
