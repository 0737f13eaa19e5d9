"""The application on a port: listens, tells its address, and finishes pending work when it is stopped."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import uvicorn

from manyheads.errors import ManyheadsError
from manyheads.serving.app import create_app
from manyheads.serving.arrivals import Arrivals
from manyheads.serving.connections import Connection
from manyheads.serving.directions import Direction, Directions
from manyheads.serving.logs import configure_logging
from manyheads.serving.options import ServerOptions

# Of every response. A browser guesses no other type, tells other sites nothing of the address, and shows the page in no
# frame of another site.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "frame-ancestors 'none'",
}


def serve_runs(runs: Sequence[str | None], options: ServerOptions, tell: Callable[[str], None]) -> None:
    """Serve runs until a signal is received; `tell` is called with a line on what is served and where."""
    directions = Directions([direction for run in runs for direction in Direction.from_argument(run)])
    server = make_server(directions, options)
    listening = listen(options.host, options.port)
    configure_logging()
    served = ", ".join(f"{direction.source} → {direction.target}" for direction in directions)
    tell(f"Serving {served} at {address(listening)} (Ctrl-C stops)")
    _stop_on_signals(server)
    with listening:
        server.run(sockets=[listening])


def _stop_on_signals(server: uvicorn.Server) -> None:
    """Stop the server on SIGINT and SIGTERM.

    uvicorn raises the signal again after its shutdown. With this handler, the process then ends normally.
    """

    def stop(number: int, frame: object) -> None:
        """Ask the server to exit."""
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def make_server(directions: Directions, options: ServerOptions) -> uvicorn.Server:
    """Return a server for these directions that is not running yet."""
    connection: Any = partial(Connection, arrivals=Arrivals(options.arrival_seconds))
    return uvicorn.Server(
        uvicorn.Config(
            create_app(directions, options),
            http=connection,
            headers=list(SECURITY_HEADERS.items()),
            log_config=None,
            access_log=False,  # our own log has no query strings, which may contain texts
            server_header=False,
            timeout_graceful_shutdown=max(1, round(options.shutdown_seconds)),
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port."""
    try:
        family, _, _, _, location = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(location[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ManyheadsError(
            f"cannot listen there: {reason}.", where=f"{host}:{port}", cure="Choose another with --host and --port."
        ) from None


def address(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
