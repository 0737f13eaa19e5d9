"""The server's page and the README's section: their requests run as they stand there, and are answered in that form."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from run_folders import make_run
from served import serving

ROOT = Path(__file__).resolve().parents[2]
TEXT = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/serving.md"))
EXAMPLES = re.findall(r"^\$ (curl (?:[^\n]|\\\n)*?)\n(\{.*)$", TEXT, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server as the pages start it; its model knows nothing about dates."""
    run = make_run(tmp_path_factory.mktemp("served") / "dates").path
    with serving([f"mul-iso={run}"]) as running:
        yield running.url


def test_there_are_examples():
    assert len(EXAMPLES) == TEXT.count("$ curl") > 4


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_an_example_is_answered_as_shown(url, tmp_path, command, shown):
    (tmp_path / "dates.txt").write_text("15 novembre 2026\n")
    asked = command.replace("localhost:5000", url).replace("curl", "curl -sS", 1)
    done = subprocess.run(asked, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    answer = json.loads(done.stdout.splitlines()[0])
    keys = set(re.findall(r'"(\w+)":', shown.split("[{")[0]))
    assert keys <= set(answer)
    if "…" not in shown:
        assert set(json.loads(shown)) == set(answer)
