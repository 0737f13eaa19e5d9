"""Two tiny runs, and a real server of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manyheads.decoding.translator import Translator
from run_folders import PROSE, make_run
from served import Running, serving


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs with random weights, one that says en → de and one that is served as de → en."""
    folder = tmp_path_factory.mktemp("served")
    return {name: make_run(folder / name, seed=seed, data=PROSE).path for name, seed in (("there", 1), ("back", 2))}


@pytest.fixture(scope="session")
def translator(runs: dict[str, Path]) -> Translator:
    """The engine of en → de itself."""
    return Translator(runs["there"])


@pytest.fixture(scope="session")
def server(runs: dict[str, Path]) -> Iterator[Running]:
    """A server of both runs with its default options."""
    with serving([runs["there"], f"de-en={runs['back']}"]) as running:
        yield running
