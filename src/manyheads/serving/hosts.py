"""The host names that the server answers to, against DNS rebinding.

A page of another site can make its own name point to this machine, and would then be allowed to read the answers. Its
requests have that name in `Host`. An address in `Host` is no name, so it is accepted where the server listens on all
addresses.
"""

from __future__ import annotations

import ipaddress
import re
import socket

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from manyheads.errors import ManyheadsError

LOCAL = ("localhost", "127.0.0.1", "::1")
EVERY_ADDRESS = ("", "0.0.0.0", "::")  # to listen on
_HOST = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::\d*)?")
_PATTERN = re.compile(r"\*|(?:\*\.)?[\w.:-]+")


class AllowedHosts:
    """The names of this machine: those it listens on, localhost, and those of an option."""

    def __init__(self, listening_on: str, names: str | None) -> None:
        """`names` are separated by commas; `*.example.org` is every name below it, `*` any name."""
        patterns = [name.strip().lower() for name in (names or "").split(",") if name.strip()]
        for pattern in patterns:
            if not _PATTERN.fullmatch(pattern):
                raise ManyheadsError(
                    f"{pattern!r} is not a host name.",
                    where="--allowed-hosts (or MANYHEADS_ALLOWED_HOSTS)",
                    cure="Write names without a port, such as translate.example.org,*.example.net",
                )
        self._is_open = listening_on in EVERY_ADDRESS
        own = socket.gethostname() if self._is_open else listening_on
        self._names = {*LOCAL, own.lower(), *patterns}
        self._endings = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*."))

    def allows(self, header: str) -> bool:
        """Return whether a `Host` header names this machine."""
        match = _HOST.fullmatch(header.strip().lower())
        if "*" in self._names or match is None:
            return "*" in self._names
        name = (match[1] or match[2] or "").rstrip(".")
        return name in self._names or name.endswith(self._endings) or (self._is_open and _is_address(name))


def _is_address(name: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class HostCheck:
    """ASGI middleware that refuses requests for other hosts with 421 (RFC 9110, 7.4)."""

    def __init__(self, app: ASGIApp, allowed: AllowedHosts) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request for this host; one without a name, as of old health checks, is from no browser."""
        host = Headers(scope=scope).get("host") if scope["type"] == "http" else None
        if host is None or self._allowed.allows(host):
            await self._app(scope, receive, send)
            return
        error = "This server does not answer to this host name; its operator can add it (--allowed-hosts)"
        await JSONResponse({"error": error}, status_code=421)(scope, receive, send)
