"""The page on deploying: its unit and its container file, run as far as that goes without systemd and a container."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from manyheads.serving.options import PREFIX, ServerOptions, variable

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
VARIABLES = {f"{PREFIX}RUNS", *(variable(name) for name in ServerOptions.model_fields)}


def block(language: str, containing: str = "") -> str:
    """Return the one code block of a language, or with some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    (found,) = (one for one in blocks if containing in one)
    return str(found)


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    """The unit."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(block("ini"))
    return parser


@pytest.fixture(scope="module")
def container() -> dict[str, list[str]]:
    """The instructions of the container file, by their names."""
    found: dict[str, list[str]] = {}
    lines = [line for line in block("dockerfile").splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, rest = line.partition(" ")
        found.setdefault(name, []).append(rest)
    return found


@pytest.fixture
def serve(background: Callable[..., Any]) -> Callable[..., tuple[Any, str]]:
    """Start the server with the words of a document, at a free port; return it and its address."""

    def start(words: list[str]) -> tuple[Any, str]:
        running = background(*words, "--port", "0")
        running.wait_for(lambda: "Ctrl-C stops" in running.said())
        return running, re.search(r"http://\S+", running.said())[0].replace("0.0.0.0", "127.0.0.1")

    return start


def test_the_command_of_the_unit_serves_and_ends_in_order(unit: configparser.ConfigParser, serve: Callable[..., Any]):
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "manyheads"
    running, address = serve(words)
    assert httpx.get(f"{address}/health").json() == {"status": "ok"}
    assert running.end(signal.SIGTERM).code == 0
    allowed = float(words[words.index("--shutdown-seconds") + 1])
    assert float(unit["Service"]["TimeoutStopSec"]) > allowed


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_unit(tmp_path: Path):
    here = re.sub(r"(?<=ExecStart=)\S+", sys.executable, block("ini"))  # it looks whether the program is there
    (tmp_path / "manyheads.service").write_text(here, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", tmp_path / "manyheads.service"],
        capture_output=True,
        text=True,
    )
    assert "manyheads.service:" not in done.stderr, done.stderr


def test_every_variable_is_one_of_the_server(container: dict[str, list[str]]):
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", PAGE))
    assert named <= VARIABLES, named - VARIABLES


def test_the_container_copies_and_installs_what_there_is(container: dict[str, list[str]]):
    for copied in container["COPY"]:
        *sources, _ = copied.split()
        assert all((ROOT / source).exists() for source in sources), copied
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in re.findall(r"\.\[(\w+)\]", PAGE):
        assert extra in project["optional-dependencies"]
    needed = {project["readme"], *project["license-files"]}  # building the package reads them
    assert needed <= {name for copied in container["COPY"] for name in copied.split()}
    assert "manyheads" in project["scripts"]


def test_the_container_serves_and_is_healthy(
    container: dict[str, list[str]], serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    environment = dict(one.split("=") for one in container["ENV"][0].split())
    assert container["EXPOSE"] == [environment["MANYHEADS_PORT"]]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    name, *words = json.loads(container["ENTRYPOINT"][0])
    assert name == "manyheads"
    running, address = serve(words)
    _, _, check = container["HEALTHCHECK"][0].partition("CMD ")
    python, *code = json.loads(check)
    assert python == "python"
    for port, code_wanted in ((address.rpartition(":")[2], 0), ("1", 1)):
        done = subprocess.run([sys.executable, *code], env={**os.environ, "MANYHEADS_PORT": port}, capture_output=True)
        assert done.returncode == code_wanted, done.stderr
    assert running.end(signal.SIGTERM).code == 0


def test_other_pages_lead_here():
    assert "(docs/deploying.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(deploying.md)" in (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
