"""A real server on a free port, in a thread of this process, with tiny models."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from manyheads.serving.batcher import MOST_AT_ONCE
from manyheads.serving.directions import Direction, Directions
from manyheads.serving.options import ServerOptions
from manyheads.serving.server import address, listen, make_server
from manyheads.serving.service import Service
from manyheads.serving.worker import Worker

PATIENCE = 60


@dataclass(frozen=True)
class Running:
    """A server that is running."""

    url: str
    service: Service
    stop: Callable[[], None]
    ended: Callable[[], bool]

    def post(self, path: str, **settings: Any) -> httpx.Response:
        return httpx.post(self.url + path, timeout=PATIENCE, **settings)

    def get(self, path: str, **settings: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=PATIENCE, **settings)

    def translate(self, q: object, *, source: str = "en", target: str = "de", **more: Any) -> httpx.Response:
        return self.post("/translate", json={"q": q, "source": source, "target": target, **more})

    def is_healthy(self) -> bool:
        return self.get("/health").json() == {"status": "ok"} and self.translate("1 May 2020").status_code == 200


@contextmanager
def serving(runs: list[Path | str], **options: Any) -> Iterator[Running]:
    """Serve runs until the end of the block."""
    directions = Directions([direction for run in runs for direction in Direction.from_argument(str(run))])
    server = make_server(directions, ServerOptions(port=0, **options))
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())

    def stop() -> None:
        server.should_exit = True

    with listening:
        yield Running(address(listening), server.config.app.state.service, stop, lambda: not thread.is_alive())
        stop()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server did not stop"


@contextmanager
def held(running: Running) -> Iterator[Worker]:
    """Hold the model of the first direction, so that it translates nothing until the end of the block."""
    # A server with a short limit may answer with an error until its model is loaded.
    wait_until(lambda: running.translate("1 May 2020").status_code == 200)
    worker = running.service.worker(next(iter(running.service.directions)))
    released = threading.Event()
    for _ in range(MOST_AT_ONCE):
        worker.model.batcher._threads.submit(released.wait)
    try:
        yield worker
    finally:
        released.set()


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until a condition is true, and fail if that takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.001)
