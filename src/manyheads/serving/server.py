"""The application behind a port: listens, says where, and stops when told to, having finished what it began."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Sequence

import uvicorn

from manyheads.errors import ManyheadsError
from manyheads.serving.app import create_app
from manyheads.serving.directions import Direction, Directions
from manyheads.serving.logs import begin_logging
from manyheads.serving.options import ServerOptions


def serve_runs(runs: Sequence[str | None], options: ServerOptions) -> None:
    """Serve runs until a signal comes."""
    directions = Directions([direction for run in runs for direction in Direction.all_of(run)])
    server = make_server(directions, options)
    listening = listen(options.host, options.port)
    begin_logging()
    served = ", ".join(f"{one.source} → {one.target}" for one in directions)
    print(f"Serving {served} at {address(listening)} (Ctrl-C stops)", file=sys.stderr, flush=True)
    _stop_on_signals(server)
    with listening:
        server.run(sockets=[listening])


def _stop_on_signals(server: uvicorn.Server) -> None:
    """Let a signal end the server. uvicorn raises it once more at the end; having stopped in order is no failure."""

    def stop(number: int, frame: object) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def make_server(directions: Directions, options: ServerOptions) -> uvicorn.Server:
    """Return a server of these directions that is not running yet."""
    return uvicorn.Server(
        uvicorn.Config(
            create_app(directions, options),
            log_config=None,
            access_log=False,  # ours has no addresses with texts in them
            server_header=False,
            timeout_graceful_shutdown=max(1, round(options.shutdown_seconds)),
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a port."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ManyheadsError(
            f"cannot listen there: {reason}.", where=f"{host}:{port}", cure="Choose another with --host and --port."
        ) from None


def address(listening: socket.socket) -> str:
    """Return the address at which a socket listens."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
