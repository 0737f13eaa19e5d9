"""A real server on a free port, in a thread of this process, with tiny models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from manyheads.decoding.translator import Translator
from manyheads.serving.directions import Direction, Directions
from manyheads.serving.options import ServerOptions
from manyheads.serving.server import address, listen, make_server
from manyheads.serving.service import Service
from run_folders import make_run

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
    directions = Directions([Direction.parse(str(run)) for run in runs])
    server = make_server(directions, ServerOptions(port=0, **options))
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server ended at once"

    def stop() -> None:
        server.should_exit = True

    with listening:
        yield Running(address(listening), server.config.app.state.service, stop, lambda: not thread.is_alive())
        stop()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs with random weights, one that says en → de and one that is served as de → en."""
    folder = tmp_path_factory.mktemp("served")
    return {name: make_run(folder / name, seed=seed).path for name, seed in (("there", 1), ("back", 2))}


@pytest.fixture(scope="session")
def translator(runs: dict[str, Path]) -> Translator:
    """The engine of en → de itself."""
    return Translator(runs["there"])


@pytest.fixture(scope="session")
def server(runs: dict[str, Path]) -> Iterator[Running]:
    """A server of both runs with its default options."""
    with serving([runs["there"], f"de-en={runs['back']}"]) as running:
        yield running
