"""What is still arriving: the headers of connections, or the bodies of requests.

A client that sends slowly, or stops in the middle, occupies memory and a connection, but none of the places of requests
that can be worked on. Of too many, the one that has been arriving for longest is given up. So slow clients make room
for others, and keep no one out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST_ARRIVING = 256  # bodies, of at most `body_limit` bytes each; and as many connections without headers


class Arrivals:
    """A limited number of arrivals; each calls its own function when it is given up, once."""

    def __init__(self, seconds: float, *, most: int = MOST_ARRIVING) -> None:
        """An arrival is given up after this number of seconds, or if `most` others have begun after it."""
        self._seconds = seconds
        self._most = most
        self._waiting: dict[object, tuple[Callable[[], object], asyncio.TimerHandle]] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, arrival: object, give_up: Callable[[], object]) -> None:
        """Note that something has begun to arrive; nothing happens if it is known already."""
        if arrival in self._waiting:
            return
        timer = asyncio.get_running_loop().call_later(self._seconds, self._give_up, arrival)
        self._waiting[arrival] = give_up, timer
        if len(self._waiting) > self._most:
            self._give_up(next(iter(self._waiting)))

    def end(self, arrival: object) -> None:
        """Note that something has arrived, or never will."""
        if arrival in self._waiting:
            _, timer = self._waiting.pop(arrival)
            timer.cancel()

    def _give_up(self, arrival: object) -> None:
        """Forget an arrival, and call its function."""
        give_up, _ = self._waiting[arrival]
        self.end(arrival)
        give_up()

    @asynccontextmanager
    async def limited(self) -> AsyncIterator[None]:
        """Raise `TimeoutError` in the block if what arrives there is given up."""
        async with asyncio.timeout(None) as timeout:
            self.begin(timeout, lambda: timeout.reschedule(asyncio.get_running_loop().time()))
            try:
                yield
            finally:
                self.end(timeout)
