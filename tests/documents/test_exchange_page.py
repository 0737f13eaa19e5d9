"""The page on exchange: its commands run in their order on a small trained run, and then its snippets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.*)$", PAGE, flags=re.MULTILINE)
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, copy_run: Path) -> Path:
    """A folder as the page's reader has it, after the page's commands; the run copies instead of reading dates."""
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("desk")
    (folder / "runs").mkdir()
    (folder / "runs" / "dates").symlink_to(copy_run)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in COMMANDS:
        words = command.replace("manyheads", f"{sys.executable} -m manyheads", 1)
        done = subprocess.run(
            words, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return folder


def test_there_and_back_is_the_same_model(desk: Path):
    first, again = (desk / "runs" / name / "model.safetensors" for name in ("dates", "dates-again"))
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda code: code.splitlines()[0])
def test_a_snippet_runs(snippet: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(desk)
    exec(compile(snippet.replace("15 novembre 2026", "a b c"), "exchange.md", "exec"), {})
    assert "a b c" in capsys.readouterr().out
