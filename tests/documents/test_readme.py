"""The README's commands and snippets run as they stand there, the trainings shortened."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from document_examples import APP
from manyheads.data.generated import task

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
IN_PYTHON, PRINTED = re.search(r"^\$ (python -c .*)\n((?:\S+ +[\d.]+\n)+)```", README, flags=re.MULTILINE).groups()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
TRAINS = "manyheads train"
SHORT = (
    "--set training.steps=20 --set training.batch_tokens=512 --set validation.sentences=8 "
    "--set model.width=32 --set model.feed_forward=64"
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder as the README's reader has it: text files, a catalogue, a recipe with a mistake, and trained runs."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "recipes").symlink_to(ROOT / "recipes")
    for name, count in (("train", 400), ("test", 20)):
        pairs = list(task("dates").pairs("train", count=count))
        (folder / f"{name}.en").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
        (folder / f"{name}.de").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    (folder / "input.txt").write_text("1 May 2020\n\n2 June 2021\n", encoding="utf-8")
    (folder / "app.po").write_text(APP, encoding="utf-8")
    recipe = (ROOT / "recipes" / "dates.yaml").read_text(encoding="utf-8")
    (folder / "misspelt.yaml").write_text(recipe.replace("batch_tokens", "batch_token"), encoding="utf-8")
    for command in COMMANDS:
        if TRAINS in command:
            run(folder, f"{command} {SHORT}")
    return folder


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the README in the folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [one for one in COMMANDS if TRAINS not in one and one != IN_PYTHON])
def test_a_command_runs(command, desk):
    if command.startswith("manyheads data get"):
        if not os.environ.get("MANYHEADS_DATA"):
            pytest.skip("MANYHEADS_DATA names no folder with the public corpora")
        command += f" --from {os.environ['MANYHEADS_DATA']} --to {desk / 'data'}"
    done = run(desk, command)
    mistaken = "misspelt" in command
    assert done.returncode == (2 if mistaken else 0), done.stderr
    assert "Traceback" not in done.stderr
    if mistaken:
        assert done.stderr.strip() in README  # what the README shows is what is said


def test_the_library_prints_nothing_by_itself(desk):
    done = run(desk, IN_PYTHON)
    assert (done.returncode, done.stderr) == (0, "")
    found, shown = (dict(line.split() for line in text.splitlines()) for text in (done.stdout, PRINTED))
    assert found.keys() == shown.keys()
    for name, value in shown.items():  # the last digits depend on the machine
        assert float(found[name]) == pytest.approx(float(value), rel=0.1, abs=1)


def test_trained_runs_are_complete(desk):
    for run_folder in ("runs/mine", "runs/dates", "runs/on-two"):
        assert (desk / run_folder / "model.safetensors").exists()
        assert (desk / run_folder / "card.md").exists()


def test_as_many_lines_come_out_as_go_in(desk):
    run(desk, "manyheads translate --model runs/mine < input.txt > output.txt")
    lines = (desk / "output.txt").read_text(encoding="utf-8").split("\n")
    assert len(lines) == 4 and lines[1] == "" and lines[3] == ""


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda code: code.splitlines()[0])
def test_a_snippet_runs(snippet, desk, monkeypatch):
    monkeypatch.chdir(desk)
    scope: dict[str, object] = {}
    exec(compile(snippet, "README.md", "exec"), scope)
    if "recording" in scope:
        weights = scope["recording"]["decoder.layers.0.cross_attention"]
        shape = re.search(r"\.shape\s+# \[(.*?)\]", snippet)
        assert shape and list(weights.shape) == [int(size) for size in shape[1].split(",")]
    else:
        assert isinstance(scope["translator"].translate("15 novembre 2026"), str)
