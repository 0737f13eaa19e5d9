"""Two processes under torchrun learn what one learns, hand over to one, take over from it, and outlive each other."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from manyheads.config.reading import load_recipe
from manyheads.runs.weights import read_weights, shapes
from manyheads.training.machine.distributed import World, is_lost_peer

STEPS = 50
PATIENCE = 240  # seconds; two processes import everything twice
CHANGES = {
    "model.dropout": 0.0,
    "model.encoder_layers": 2,
    "training.steps": STEPS,
    "training.schedule.kind": "constant",
    "training.checkpoint_every": 10,
    "validation.every": 25,
}

Together = Callable[..., str]


def torchrun(*arguments: object, restarts: int = 0) -> list[str]:
    """Return the words that start two processes of the command."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", str(restarts)]
    return [*launcher, "--standalone", "-m", "manyheads", *map(str, arguments)]


@pytest.fixture
def together() -> Together:
    """`together("train", …)` runs the command in two processes and returns what they said."""

    def run(*arguments: object) -> str:
        done = subprocess.run(torchrun(*arguments), capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


@pytest.fixture
def recipe(sprint: Callable[..., Path]) -> Path:
    return sprint(CHANGES)


@pytest.fixture
def alone(recipe: Path, tmp_path: Path, command: Callable[..., Any]) -> Path:
    """A run of one process that takes two batches per update."""
    run = tmp_path / "alone"
    command("train", recipe, "--out", run, "--set", "training.accumulate=2").succeeds()
    return run


def losses(run: Path) -> list[float]:
    entries = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [entry["loss"] for entry in entries if entry["kind"] == "train"]


def check_same(run: Path, other: Path) -> None:
    """Check that two runs learned the same, step by step, to 1e-4."""
    assert len(losses(run)) == STEPS
    assert losses(run) == pytest.approx(losses(other), abs=1e-4)
    # The weights themselves may differ: a key's bias changes no softmax, so its gradient is rounding and nothing else.
    one, two = (shapes(read_weights(folder / "model.safetensors").items()) for folder in (run, other))
    assert one == two


def test_two_processes_follow_the_plan_of_the_first(sprint: Callable[..., Path], tmp_path: Path, together: Together):
    schedule = {"kind": "warmup_constant_decay", "rate": 0.01, "warmup": 4}
    recipe = sprint({"training.minutes": 0.01, "training.schedule": schedule, "validation.every": 10})
    assert "Finished at step" in together("train", recipe, "--out", tmp_path / "run")
    planned = load_recipe(tmp_path / "run" / "recipe.yaml").training
    assert planned.schedule.decay_from is not None
    assert planned.steps != load_recipe(recipe).training.steps


@pytest.mark.parametrize("sharding", ["none", "full"])
def test_two_processes_learn_what_one_learns(
    alone: Path, recipe: Path, tmp_path: Path, together: Together, sharding: str
):
    run = tmp_path / "together"
    said = together("train", recipe, "--out", run, "--set", f"training.sharding={sharding}")
    check_same(run, alone)
    assert said.count(f"Finished at step {STEPS}.") == 1, "only the first process speaks"
    assert "Warning" not in said


@pytest.mark.parametrize("sharding", ["none", "full"])
def test_more_batches_per_update_are_added_up_in_each_process(
    recipe: Path, tmp_path: Path, together: Together, command: Callable[..., Any], sharding: str
):
    command("train", recipe, "--out", tmp_path / "alone", "--set", "training.accumulate=4").succeeds()
    changes = ("--set", "training.accumulate=2", "--set", f"training.sharding={sharding}")
    together("train", recipe, "--out", tmp_path / "together", *changes)
    check_same(tmp_path / "together", tmp_path / "alone")


@pytest.mark.parametrize("sharding", ["none", "full"])
def test_one_process_goes_on_where_two_stopped(
    alone: Path, recipe: Path, tmp_path: Path, together: Together, command: Callable[..., Any], sharding: str
):
    run = tmp_path / "run"
    average = ("--set", "training.moving_average=0.9")
    together("train", recipe, "--out", run, "--set", "training.steps=20", "--set", f"training.sharding={sharding}")
    said = command("train", recipe, "--out", run, "--set", "training.accumulate=2").succeeds()
    assert "processes 2 → 1" in said
    check_same(run, alone)
    command("train", recipe, "--out", run, *average)  # asked for afterwards, it has nothing more to do


def test_two_processes_go_on_where_one_stopped(
    alone: Path, recipe: Path, tmp_path: Path, together: Together, command: Callable[..., Any]
):
    run = tmp_path / "run"
    changes = ("--set", "training.accumulate=2", "--set", "training.steps=20")
    command("train", recipe, "--out", run, *changes).succeeds()
    together("train", recipe, "--out", run, "--set", "training.sharding=full")
    check_same(run, alone)


def test_a_sharded_moving_average_is_that_of_one_process(
    recipe: Path, tmp_path: Path, together: Together, command: Callable[..., Any]
):
    average = ("--set", "training.moving_average=0.9")
    command("train", recipe, "--out", tmp_path / "alone", "--set", "training.accumulate=2", *average).succeeds()
    together("train", recipe, "--out", tmp_path / "together", "--set", "training.sharding=full", *average)
    check_same(tmp_path / "together", tmp_path / "alone")


# --- When one of them dies -------------------------------------------------------------------------------------------


def second_process(launcher: int) -> int | None:
    """Return the process id of the second process, rank 1, of a launcher, once it is there."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            ranks = [entry for entry in (place / "environ").read_bytes().split(b"\0") if entry.startswith(b"RANK=")]
        except OSError:
            continue
        if parent == launcher and ranks == [b"RANK=1"]:
            return int(place.name)
    return None


def kill_second_process(launcher: subprocess.Popen[str], run: Path) -> None:
    """Kill the second process as soon as there is a checkpoint."""
    deadline = time.monotonic() + PATIENCE
    while not any((run / "checkpoints").glob("step-*")):
        assert launcher.poll() is None, "it ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    second = second_process(launcher.pid)
    assert second is not None
    os.kill(second, signal.SIGKILL)


def longer(steps: int) -> tuple[str, ...]:
    """Return what makes a run long enough to be killed in the middle of it."""
    return (
        "--set",
        f"training.steps={steps}",
        "--set",
        "training.checkpoint_every=20",
        "--set",
        "validation.every=5000",
    )


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize("sharding", ["none", "full"])
def test_a_dead_process_leaves_a_good_checkpoint_and_a_sentence(
    recipe: Path, tmp_path: Path, command: Callable[..., Any], sharding: str
):
    run = tmp_path / "run"
    words = torchrun("train", recipe, "--out", run, *longer(5000), "--set", f"training.sharding={sharding}")
    launcher = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    kill_second_process(launcher, run)
    _, said = launcher.communicate(timeout=PATIENCE)
    assert launcher.returncode != 0
    assert said.count("error: ") >= 1, said
    assert "another of the 2 processes died at step" in said
    assert "is good: start the same command again to continue from it." in said
    saved = max(int(path.name.removeprefix("step-")) for path in (run / "checkpoints").glob("step-*"))
    assert 20 <= saved < 5000
    said = command("train", recipe, "--out", run, *longer(saved + 10)).succeeds()
    assert f"Continuing from step {saved:,} " in said
    assert f"Finished at step {saved + 10:,}." in said


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_torchrun_starts_dead_processes_again(recipe: Path, tmp_path: Path):
    run = tmp_path / "run"
    words = torchrun("train", recipe, "--out", run, *longer(300), restarts=1)
    launcher = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    kill_second_process(launcher, run)
    _, said = launcher.communicate(timeout=PATIENCE)
    assert launcher.returncode == 0, said
    assert "Continuing from step" in said
    assert "Finished at step 300." in said


# --- Who is who ------------------------------------------------------------------------------------------------------


def test_without_torchrun_a_process_is_alone(monkeypatch: pytest.MonkeyPatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    world = World.from_environment(torch.device("cpu"))
    assert (world.rank, world.size, world.is_main) == (0, 1, True)
    assert (world.total(3.0), world.largest(2.0)) == (3.0, 2.0)


def test_each_process_of_a_machine_has_a_card_of_its_own(monkeypatch: pytest.MonkeyPatch):
    for name, value in (("RANK", "5"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    world = World.from_environment(torch.device("cuda"))
    assert (world.rank, world.size, world.is_main, world.device) == (5, 8, False, torch.device("cuda", 1))


def test_other_errors_are_not_taken_for_a_lost_process():
    assert is_lost_peer(RuntimeError("[gloo/transport/tcp/pair.cc:538] Connection closed by peer [127.0.0.1]:4711"))
    assert not is_lost_peer(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
