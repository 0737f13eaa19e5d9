"""Connections whose requests do not arrive are closed.

uvicorn limits the time between two requests on a connection, but neither the time until the first one nor that of
headers that do not end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from manyheads.serving.arrivals import Arrivals


class Connection(H11Protocol):
    """A connection that is closed if the headers of a request do not arrive in time."""

    def __init__(self, *, arrivals: Arrivals, **of_uvicorn: Any) -> None:  # noqa: ANN401
        super().__init__(**of_uvicorn)
        self._arrivals = arrivals

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._note()

    def data_received(self, data: bytes) -> None:
        """Process data, and begin or end to wait for headers."""
        super().data_received(data)
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """End to wait."""
        super().connection_lost(exc)
        self._arrivals.end(self)

    def _note(self) -> None:
        """Note whether headers are arriving; the time of those that are arriving already goes on."""
        if self.cycle is None or self.cycle.response_complete:
            self._arrivals.begin(self, self.timeout_keep_alive_handler)
        else:
            self._arrivals.end(self)
