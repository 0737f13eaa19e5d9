"""Every request is timed, counted and logged, whatever becomes of it."""

from __future__ import annotations

import itertools
import logging
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyheads.serving.logs import write
from manyheads.serving.metrics import Meter


class Observing:
    """Stands around the application; handlers add what they know in `request.state.facts`."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._meter = meter
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts: dict[str, Any] = {}
        scope.setdefault("state", {})["facts"] = facts
        status = 500  # unless something better is sent
        began = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._note(scope, status, time.perf_counter() - began, facts)

    def _note(self, scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> None:
        """Count and log a request; its query is not logged, since it may hold a text or a key."""
        path = getattr(scope.get("route"), "path", "other")  # addresses that nobody serves are counted as one
        self._meter.requests.labels(path, status).inc()
        self._meter.seconds.labels(path).observe(seconds)
        client = scope.get("client")
        write(
            "request",
            level=logging.ERROR if status == 500 else logging.INFO,
            number=next(self._numbers),
            method=scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other",
            path=path,
            status=status,
            milliseconds=round(1000 * seconds, 1),
            client=client[0] if client else None,
            **facts,
        )
