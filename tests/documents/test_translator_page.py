"""The page on the translator in the box: its commands run in their order, the training shortened."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from manyheads.data.generated import task
from manyheads.runs.folder import RunFolder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "translator.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
SHORT = "--set training.steps=2 --set training.batch_tokens=256 --set validation.sentences=4"


def test_the_commands_run(tmp_path: Path):
    for name, count in (("captions", 60), ("test", 8)):
        pairs = list(task("dates").pairs("train", count=count))
        for language, side in (("en", "source"), ("de", "target")):
            lines = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
            (tmp_path / f"{name}.{language}").write_text(lines, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in COMMANDS:
        words = f"{command} {SHORT}" if command.startswith("manyheads train") else command
        environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            words, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert RunFolder.open(tmp_path / "runs" / "captions").recipe().start_from is not None
