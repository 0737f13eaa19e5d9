"""Who may come in: so many at once, so often, with a key where keys are asked for."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi import Request

from manyheads.errors import ManyheadsError
from manyheads.serving.bodies import Fields, read_fields
from manyheads.serving.metrics import Meter
from manyheads.serving.options import ServerOptions
from manyheads.serving.refusals import Disconnected, Refusal, overloaded

Result = TypeVar("Result")
CLIENTS = 10_000  # remembered at most
BODY_SECONDS = 30.0  # for a body to arrive, at most: whoever sends slowly takes the place of others


class Admission:
    """Lets requests in, or refuses them before they cost anything."""

    def __init__(self, options: ServerOptions, meter: Meter) -> None:
        self._options = options
        self._meter = meter
        self._places = asyncio.Semaphore(options.concurrency)
        self._waiting = 0
        self._working = 0
        self._keys = _read_keys(options.api_keys) if options.api_keys else None
        self._pace = Pace(options.request_limit)

    @asynccontextmanager
    async def admitted(self, request: Request) -> AsyncIterator[Fields]:
        """Let a request in and read it."""
        await self._take_place()
        self._working += 1
        self._meter.in_flight.inc()
        try:
            options = self._options
            seconds = min(options.request_seconds, BODY_SECONDS)
            fields = await read_fields(request, limit=options.body_limit, seconds=seconds)
            key = self._check_key(request, fields)
            self._pace.check(key or (request.client.host if request.client else ""))
            yield fields
        finally:
            self._places.release()
            self._working -= 1
            self._meter.in_flight.dec()

    async def _take_place(self) -> None:
        """Wait for a place among those that are worked on; refuse where too many wait already."""
        if self._places.locked() and self._waiting >= self._options.waiting_limit:
            raise overloaded("too many requests at once")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._options.request_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise self._too_slow() from None
        finally:
            self._waiting -= 1

    def _too_slow(self) -> Refusal:
        """Return the refusal of a request whose time is over."""
        return overloaded(f"no answer within {self._options.request_seconds:g} seconds")

    async def attended(self, request: Request, work: Coroutine[Any, Any, Result]) -> Result:
        """Do the work while the client waits for it and there is time."""
        task = asyncio.create_task(work)
        gone = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({task, gone}, timeout=self._options.request_seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if gone.done():
                raise Disconnected
            raise self._too_slow()
        finally:
            task.cancel()
            gone.cancel()

    def _check_key(self, request: Request, fields: Fields) -> str | None:
        """Return the client's key; refuse a wrong one, and none where one is needed."""
        given = fields.choice("api_key", "") or _header_key(request)
        if self._keys is None:
            return None
        if not given:
            raise Refusal(400, "Please contact the server operator to get an API key")
        if not sum(hmac.compare_digest(given.encode(), key) for key in self._keys):
            raise Refusal(403, "Invalid API key")
        return given


def _header_key(request: Request) -> str | None:
    """Return the key that stands in a header."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key")


async def _disconnected(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _read_keys(path: Path) -> list[bytes]:
    """Read the keys that are accepted."""
    try:
        keys = [line.strip() for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise ManyheadsError(f"the keys cannot be read: {error.strerror}.", where=str(path)) from None
    if not keys:
        raise ManyheadsError("there is no key in this file.", where=str(path), cure="Write one key per line.")
    return keys


class Pace:
    """So many requests in a minute for each client: a bucket that fills evenly and may be emptied at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buckets: dict[str, tuple[float, float]] = {}  # what was left, and when

    def check(self, client: str) -> None:
        """Count a request; refuse one too many."""
        if not self._limit:
            return
        now = time.monotonic()
        left, then = self._buckets.get(client, (float(self._limit), now))
        left = min(float(self._limit), left + (now - then) * self._limit / 60)
        if left < 1:
            wait = max(1, round((1 - left) * 60 / self._limit))
            raise Refusal(429, f"Slowdown: {self._limit} per minute", retry_after=wait)
        self._buckets[client] = left - 1, now
        if len(self._buckets) > CLIENTS:  # whoever was quiet for a minute has a full bucket, which needs no memory
            self._buckets = {name: one for name, one in self._buckets.items() if now - one[1] < 60}
