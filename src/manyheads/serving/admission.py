"""Admission control: limits on concurrent, waiting and frequent requests, and API keys."""

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
from manyheads.serving.api_errors import ApiError, ClientDisconnectedError, overloaded
from manyheads.serving.bodies import Fields, read_fields
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions

Result = TypeVar("Result")
MOST_CLIENTS = 10_000  # in the memory of the rate limiter
BODY_SECONDS = 30.0  # for a body to arrive, at most: a slow client occupies a slot


class Admission:
    """Admits requests, or rejects them before they cost anything."""

    def __init__(self, options: ServerOptions, metrics: ServerMetrics) -> None:
        self._options = options
        self._metrics = metrics
        self._slots = asyncio.Semaphore(options.concurrency)
        self._keys = _read_keys(options.api_keys) if options.api_keys else None
        self._rate_limiter = RateLimiter(options.request_limit)
        self.waiting = 0  # requests that wait for a slot
        self.active = 0  # requests that have a slot

    @asynccontextmanager
    async def admitted(self, request: Request) -> AsyncIterator[Fields]:
        """Admit a request for the length of the block, and return its fields."""
        await self._acquire_slot()
        self.active += 1
        self._metrics.in_flight.inc()
        try:
            options = self._options
            seconds = min(options.request_seconds, BODY_SECONDS)
            fields = await read_fields(request, limit=options.body_limit, seconds=seconds)
            key = self._check_key(request, fields)
            self._rate_limiter.check(key or (request.client.host if request.client else ""))
            yield fields
        finally:
            self._slots.release()
            self.active -= 1
            self._metrics.in_flight.dec()

    async def _acquire_slot(self) -> None:
        """Wait for a slot; raise an error if too many requests are waiting already."""
        if self._slots.locked() and self.waiting >= self._options.waiting_limit:
            raise overloaded("too many requests at once")
        self.waiting += 1
        try:
            async with asyncio.timeout(self._options.request_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise self._timeout_error() from None
        finally:
            self.waiting -= 1

    def _timeout_error(self) -> ApiError:
        """Return the error for a request that takes too long."""
        return overloaded(f"no answer within {self._options.request_seconds:g} seconds")

    async def run_while_connected(self, request: Request, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a coroutine; cancel it if the client disconnects, or if it takes too long."""
        task = asyncio.create_task(work)
        gone = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({task, gone}, timeout=self._options.request_seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if gone.done():
                raise ClientDisconnectedError
            raise self._timeout_error()
        finally:
            task.cancel()
            gone.cancel()

    def _check_key(self, request: Request, fields: Fields) -> str | None:
        """Return the client's API key; raise an error if it is wrong, or if it is required and missing."""
        given = fields.optional_text("api_key", "") or _header_key(request)
        if self._keys is None:
            return None
        if not given:
            raise ApiError(400, "Please contact the server operator to get an API key")
        if not sum(hmac.compare_digest(given.encode(), key) for key in self._keys):
            raise ApiError(403, "Invalid API key")
        return given


def _header_key(request: Request) -> str | None:
    """Return the API key in the headers of a request."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key")


async def _disconnected(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _read_keys(path: Path) -> list[bytes]:
    """Read the accepted API keys from a file."""
    try:
        keys = [line.strip() for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise ManyheadsError(f"the keys cannot be read: {error.strerror}.", where=str(path)) from None
    if not keys:
        raise ManyheadsError("there is no key in this file.", where=str(path), cure="Write one key per line.")
    return keys


class RateLimiter:
    """A token bucket per client: it fills at `limit` requests per minute, and may be emptied at once."""

    def __init__(self, limit: int) -> None:
        """`limit` 0 is no limit."""
        self._limit = limit
        self._buckets: dict[str, tuple[float, float]] = {}  # the requests left, and the time of the last request

    def check(self, client: str) -> None:
        """Count a request; raise an error if the client has none left."""
        if not self._limit:
            return
        now = time.monotonic()
        left, then = self._buckets.get(client, (float(self._limit), now))
        left = min(float(self._limit), left + (now - then) * self._limit / 60)
        if left < 1:
            wait = max(1, round((1 - left) * 60 / self._limit))
            raise ApiError(429, f"Slowdown: {self._limit} per minute", retry_after=wait)
        self._buckets[client] = left - 1, now
        if len(self._buckets) > MOST_CLIENTS:  # after a minute without requests a bucket is full, and can be forgotten
            self._buckets = {name: bucket for name, bucket in self._buckets.items() if now - bucket[1] < 60}
