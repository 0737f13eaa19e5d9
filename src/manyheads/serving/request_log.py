"""Middleware that times, counts and logs every request."""

from __future__ import annotations

import itertools
import logging
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyheads.serving.logs import log_event
from manyheads.serving.metrics import ServerMetrics


class RequestLog:
    """ASGI middleware around the application; handlers add fields to the log in `request.state.log_fields`."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app = app
        self._metrics = metrics
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, and record its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fields: dict[str, Any] = {}
        scope.setdefault("state", {})["log_fields"] = fields
        status = 500  # if the application sends no response
        began = time.perf_counter()

        async def send_and_note(message: Message) -> None:
            """Send a message, and keep the status of the response."""
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self._record(scope, status, time.perf_counter() - began, fields)

    def _record(self, scope: Scope, status: int, seconds: float, fields: dict[str, Any]) -> None:
        """Count and log a request. The query string is not logged, since it may contain a text or a key."""
        path = getattr(scope.get("route"), "path", "other")  # all unknown paths are counted together
        self._metrics.requests.labels(path, status).inc()
        self._metrics.seconds.labels(path).observe(seconds)
        client = scope.get("client")
        log_event(
            "request",
            level=logging.ERROR if status == 500 else logging.INFO,
            number=next(self._numbers),
            method=scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other",
            path=path,
            status=status,
            milliseconds=round(1000 * seconds, 1),
            client=client[0] if client else None,
            **fields,
        )
