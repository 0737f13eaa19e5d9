"""A damaged file of a run is found when it is opened, and repaired where there is a copy."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.errors import ManyheadsError, Notice
from manyheads.runs.checksums import read_checksums, write_checksums
from manyheads.runs.folder import RunFolder

Command = Callable[..., Any]
STEPS = 6


@pytest.fixture(scope="module")
def sprinted(tmp_path_factory: pytest.TempPathFactory, command: Command, recipe_at: Callable[..., Path]) -> Path:
    """A short run, and its recipe. Copy it, do not write into it."""
    folder = tmp_path_factory.mktemp("sprinted")
    recipe = recipe_at(folder / "recipe.yaml", {"training.steps": STEPS})
    command("train", recipe, "--out", folder / "run").succeeds()
    return folder


@pytest.fixture
def run(sprinted: Path, tmp_path: Path) -> RunFolder:
    shutil.copytree(sprinted, tmp_path / "copy")
    return RunFolder(tmp_path / "copy" / "run")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


SMALL = ["config.json", "tokenizer/shared.model"]
DAMAGES: dict[str, Callable[[Path], Any]] = {
    "one bit": flip,
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
}


def test_the_files_of_a_run_have_checksums(run: RunFolder):
    sums = read_checksums(run.path)
    assert sums is not None
    assert set(sums) == {"model.safetensors", "inputs.json", *SMALL}
    assert all(len(one) == 1 for one in sums.values())


@pytest.mark.parametrize("name", ["model.safetensors", *SMALL])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_repaired_with_a_notice(run: RunFolder, name: str, damage: str):
    before = (run.path / name).read_bytes()
    DAMAGES[damage](run.path / name)
    with pytest.warns(Notice, match=f"{name} was damaged; it was restored from .*(?:checkpoints|copies)") as told:
        RunFolder.open(run.path)
    assert len(told) == 1
    assert (run.path / name).read_bytes() == before


@pytest.mark.parametrize("name", ["model.safetensors", *SMALL])
@pytest.mark.parametrize("kind", ["/dev/zero", "pipe"])
def test_what_has_no_end_is_damaged(run: RunFolder, name: str, kind: str):
    content = (run.path / name).read_bytes()
    (run.path / name).unlink()
    if kind == "pipe":
        os.mkfifo(run.path / name)
    else:
        (run.path / name).symlink_to(kind)
    with pytest.warns(Notice, match=f"{name} was damaged; it was restored"):
        RunFolder.open(run.path)
    assert not (run.path / name).is_symlink()
    assert (run.path / name).read_bytes() == content


@pytest.mark.parametrize("name", ["model.safetensors", *SMALL])
def test_without_a_copy_it_is_refused(run: RunFolder, name: str):
    flip(run.path / name)
    shutil.rmtree(run.checkpoints)
    shutil.rmtree(run.path / "copies")
    with pytest.raises(ManyheadsError, match=f"{name}: this file is damaged, and there is no copy"):
        RunFolder.open(run.path)


def test_weights_that_no_checkpoint_has_are_replaced_by_the_best(run: RunFolder):
    best = run.checkpoints / f"step-{STEPS:08d}" / "model.safetensors"
    other = run.checkpoints / "step-00000003" / "model.safetensors"
    run.write_weights(b"the mean of several checkpoints")
    run.weights_file.write_bytes(other.read_bytes())
    with pytest.warns(Notice, match="was damaged; it is now the best checkpoint"):
        RunFolder.open(run.path)
    assert run.weights_file.read_bytes() == best.read_bytes()
    RunFolder.open(run.path)


def test_a_folder_without_checksums_is_taken_as_it_is(run: RunFolder):
    (run.path / "checksums.json").unlink()
    run.weights_file.write_bytes((run.checkpoints / "step-00000003" / "model.safetensors").read_bytes())
    RunFolder.open(run.path)
    assert not (run.path / "checksums.json").exists()


def test_a_process_killed_while_it_replaces_a_file_leaves_no_damage(run: RunFolder):
    content = run.weights_file.read_bytes()
    run.write_weights(content + b"newer")
    sums = json.loads((run.path / "checksums.json").read_text())
    assert len(sums["files"]["model.safetensors"]) == 1
    from manyheads.runs.checksums import checksum, covered

    block = covered(run.path, {"model.safetensors": b"newest"})
    block.__enter__()  # and it is killed here
    RunFolder.open(run.path)
    run.weights_file.write_bytes(b"newest")
    RunFolder.open(run.path)
    found = read_checksums(run.path)
    assert found is not None and checksum(b"newest") in found["model.safetensors"]


@pytest.mark.parametrize("name", ["model.safetensors", "held_out.json", "inputs.json", "checksums.json", *SMALL])
@pytest.mark.parametrize("damage", DAMAGES)
def test_training_goes_on_and_ends_the_same(sprinted: Path, run: RunFolder, command: Command, name: str, damage: str):
    if not (run.path / name).exists():
        pytest.skip("this run has none")
    DAMAGES[damage](run.path / name)
    words = ("train", sprinted / "recipe.yaml", "--out", run.path)
    said = command(*words).succeeds("nothing to do")
    if (name, damage) not in (("checksums.json", "missing"), ("checksums.json", "longer")):
        assert "damaged" in said
    assert run.weights_file.read_bytes() == (sprinted / "run" / "model.safetensors").read_bytes()
    assert command(*words).succeeds("nothing to do").count("damaged") == 0


def test_checksums_of_another_run_are_named_and_made_again(sprinted: Path, run: RunFolder, command: Command):
    sums = read_checksums(run.path)
    assert sums is not None
    write_checksums(run.path, {**sums, "model.safetensors": ["0" * 64], "inputs.json": ["1" * 64]})
    words = ("train", sprinted / "recipe.yaml", "--out", run.path)
    assert "not from their copies" in " ".join(command(*words).succeeds("nothing to do").split())
    assert read_checksums(run.path) == sums


# --- Reports ---------------------------------------------------------------------------------------------------------

REPORTS: dict[str, Callable[[RunFolder], Any]] = {
    "a journal of zeros": lambda run: run.metrics_file.write_bytes(bytes(100)),
    "a journal that is no text": lambda run: run.metrics_file.write_bytes(b"\xff\xfe" * 20),
    "a journal of other lines": lambda run: run.metrics_file.write_text('[1]\n{"step": "x"}\n'),
    "a journal that is a folder": lambda run: (run.metrics_file.unlink(), run.metrics_file.mkdir()),
    "events that are a file": lambda run: (shutil.rmtree(run.events, ignore_errors=True), run.events.write_text("x")),
    "a card that is a folder": lambda run: (run.card_file.unlink(), run.card_file.mkdir()),
    "a card of zeros": lambda run: run.card_file.write_bytes(bytes(10)),
}


@pytest.mark.parametrize("damage", REPORTS)
def test_a_damaged_report_is_put_aside(sprinted: Path, run: RunFolder, command: Command, damage: str):
    REPORTS[damage](run)
    more = ("--set", f"training.steps={STEPS + 1}")
    said = command("train", sprinted / "recipe.yaml", "--out", run.path, *more).succeeds("Finished")
    assert said.count("it is a report, and written again") == 1
    assert len(list(run.path.glob("*.damaged-*"))) == 1
    assert run.metrics_file.is_file() and run.card_file.is_file()
