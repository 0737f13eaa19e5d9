"""Every verb with hostile inputs: a sentence and status 2, in little time and memory.

`benchmarks/hostile.py` runs all cases; here it runs every 23rd. It is a process of its own, which forks
one for each case: from a test they would inherit the memory of its process and the locks of other tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "hostile.py"
EVERY = 23


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What became of the cases."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tmp_path_factory.mktemp("hostile")
    words = [sys.executable, str(BENCHMARK), "--jobs", "1", "--every", str(EVERY), "--out", str(folder / "report.json")]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)}, check=False)
    assert (folder / "report.json").exists(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def test_hostile_inputs_are_refused_in_a_sentence(report: dict[str, Any]):
    assert not report["bad"], json.dumps(report["bad"], indent=1)
    assert report["refused"] > report["worked"] > 0


def test_what_is_bad_is_found(report: dict[str, Any]):
    assert report["controls"] == {wanted: [wanted] for wanted in report["controls"]}
    assert len(report["controls"]) > 0
