"""Admission control: limits on concurrent, waiting and frequent requests, and API keys.

A request gets one of the slots only when its body has arrived, its key is accepted and its text is not too long. So
whatever a client without a key sends, it occupies no slot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request

from manyheads.serving.api_errors import ApiError, ClientDisconnectedError, overloaded
from manyheads.serving.arrivals import Arrivals
from manyheads.serving.bodies import Fields, read_fields
from manyheads.serving.keys import Keys, given_key
from manyheads.serving.metrics import ServerMetrics
from manyheads.serving.options import ServerOptions
from manyheads.serving.rate_limiter import RateLimiter, network
from manyheads.serving.text_limits import check_size

Result = TypeVar("Result")


class Admission:
    """Admits requests, or rejects them before they cost anything."""

    def __init__(self, options: ServerOptions, metrics: ServerMetrics) -> None:
        self._options = options
        self._metrics = metrics
        self._slots = asyncio.Semaphore(options.concurrency)
        self._keys = Keys.read(options.api_keys) if options.api_keys else None
        self._rate_limiter = RateLimiter(options.request_limit)
        self.bodies = Arrivals(min(options.request_seconds, options.arrival_seconds))  # that are arriving
        self.waiting = 0  # requests that wait for a slot
        self.active = 0  # requests that have a slot

    @asynccontextmanager
    async def admitted(self, request: Request, *, with_file: bool = False) -> AsyncIterator[Fields]:
        """Admit a request for the length of the block, and return its fields; one `with_file` may be longer."""
        limit = self._options.body_limit + (self._options.file_limit if with_file else 0)
        try:
            fields = await read_fields(request, limit=limit, arrivals=self.bodies, with_file=with_file)
            given = given_key(request, fields)
        except ApiError:
            self._count(request)
            raise
        self._check_key(request, given)
        check_size(fields, self._options)
        await self._acquire_slot(request)
        self.active += 1
        self._metrics.in_flight.inc()
        try:
            yield fields
        finally:
            self._slots.release()
            self.active -= 1
            self._metrics.in_flight.dec()

    async def _acquire_slot(self, request: Request) -> None:
        """Wait for a slot; raise an error if too many requests are waiting already."""
        if self._slots.locked() and self.waiting >= self._options.waiting_limit:
            raise overloaded("too many requests at once")
        self.waiting += 1
        try:
            await self.run_while_connected(request, self._slots.acquire())
        finally:
            self.waiting -= 1

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
            raise overloaded(f"no answer within {self._options.request_seconds:g} seconds")
        finally:
            task.cancel()
            gone.cancel()

    def _check_key(self, request: Request, given: str) -> None:
        """Count a request; raise an error if its key is wrong, or if one is required and missing.

        Requests count for their key if it is accepted, and otherwise for the client's address, wrong keys as well.
        """
        name = self._keys.find(given) if self._keys else None
        if name is not None:
            self._rate_limiter.check(name)
            return
        self._count(request)
        if self._keys and not given:
            raise ApiError(400, "Please contact the server operator to get an API key")
        if self._keys:
            raise ApiError(403, "Invalid API key")

    def _count(self, request: Request) -> None:
        """Count a request for the client's address; raise an error if it has none left."""
        self._rate_limiter.check(network(request.client.host) if request.client else "")


async def _disconnected(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
