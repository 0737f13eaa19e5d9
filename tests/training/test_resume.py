"""Stopped, killed or damaged at any moment and started again, a run ends as if nothing had happened: bit by bit.

This file is also a script: `python test_resume.py RECIPE FOLDER` trains the recipe again and again, each time killed at
another moment of its writing to disk, and says what became of each.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

STEPS = 12  # of the recipe that is resumed here; it validates every 6 and saves every 3


def final(run: Path) -> dict[str, bytes]:
    """Return what a run came to: the model, and everything in its last checkpoint that is not a version."""
    last = max((run / "checkpoints").iterdir())
    return {
        "model": (run / "model.safetensors").read_bytes(),
        "last weights": (last / "model.safetensors").read_bytes(),
        "last moments": (last / "optimiser.safetensors").read_bytes(),
        "last state": (last / "state.json").read_bytes(),
    }


def measured(run: Path) -> list[dict[str, Any]]:
    """Return the journal without the speed, which is another every time."""
    entries = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    speed = {"tokens_per_second", "seconds_per_step", "utilisation"}
    return [{name: value for name, value in entry.items() if name not in speed} for entry in entries]


def events(run: Path) -> list[int]:
    """Return the steps of the training loss in TensorBoard's files."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(run / "events")).Reload()
    return [event.step for event in accumulator.Scalars("train/loss")]


class Sprint:
    """A recipe, and what it comes to without an interruption."""

    def __init__(self, folder: Path, command: Callable[..., Any], recipe: Path) -> None:
        self.folder, self.command, self.recipe = folder, command, recipe
        self.whole = folder / "whole"
        self.train(self.whole)

    def train(self, run: Path, **changes: object) -> str:
        """Train in a folder, or go on there; return what was said."""
        sets = [word for key, value in changes.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
        said: str = self.command("train", self.recipe, "--out", run, *sets).succeeds()
        return said

    def check(self, run: Path) -> None:
        """Check that a run came to the same as the one that was never interrupted."""
        assert final(run) == final(self.whole)
        assert measured(run) == measured(self.whole)
        assert [path.name for path in run.rglob(".*")] == [], "nothing is left over"


@pytest.fixture(scope="module")
def sprint_run(
    tmp_path_factory: pytest.TempPathFactory, command: Callable[..., Any], recipe_at: Callable[..., Path]
) -> Sprint:
    folder = tmp_path_factory.mktemp("resume")
    return Sprint(folder, command, recipe_at(folder / "recipe.yaml"))


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """`stop_at(5)` lets Ctrl-C be pressed during step 5."""
    from manyheads.training.progress import Reporter

    def press(step: int) -> None:
        update = Reporter.update

        def pressed(self: Reporter, at: int, facts: str) -> None:
            update(self, at, facts)
            if at == step:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(Reporter, "update", pressed)

    yield press


def test_the_same_recipe_gives_the_same_run(sprint_run: Sprint, tmp_path: Path):
    sprint_run.train(tmp_path / "run")
    sprint_run.check(tmp_path / "run")


def test_another_seed_gives_another_run(sprint_run: Sprint, tmp_path: Path):
    sprint_run.train(tmp_path / "run", seed=2)
    assert final(tmp_path / "run")["model"] != final(sprint_run.whole)["model"]


@pytest.mark.parametrize("step", [1, 2, 3, 5, 6, 7, 11])
def test_interrupted_at_any_step(
    sprint_run: Sprint,
    tmp_path: Path,
    stop_at: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    step: int,
):
    run = tmp_path / "run"
    stop_at(step)
    said = sprint_run.train(run)
    assert f"Stopped at step {step}; nothing is lost. Start the same command again to continue." in said
    assert (run / "checkpoints" / f"step-{step:08d}" / "state.json").exists()
    assert (run / "model.safetensors").exists(), "there is a model to use already"
    monkeypatch.undo()
    assert f"Continuing from step {step} " in sprint_run.train(run)
    sprint_run.check(run)
    assert events(run) == list(range(1, STEPS + 1))


def test_interrupted_at_the_last_step(sprint_run: Sprint, tmp_path: Path, stop_at: Callable[[int], None]):
    stop_at(STEPS)
    assert f"Finished at step {STEPS}." in sprint_run.train(tmp_path / "run")
    sprint_run.check(tmp_path / "run")


@pytest.mark.parametrize("step", sorted(Random(1).sample(range(1, STEPS), 3)))
def test_fewer_steps_first(sprint_run: Sprint, tmp_path: Path, step: int):
    run = tmp_path / "run"
    assert f"Finished at step {step}." in sprint_run.train(run, training__steps=step)
    assert f"Already at step {step} of {step}: nothing to do." in sprint_run.train(run, training__steps=step)
    sprint_run.train(run)
    assert final(run)["last weights"] == final(sprint_run.whole)["last weights"]
    assert final(run)["last moments"] == final(sprint_run.whole)["last moments"]
    trained = [entry for entry in measured(run) if entry["kind"] == "train"]
    assert trained == [entry for entry in measured(sprint_run.whole) if entry["kind"] == "train"]


def test_a_finished_run_is_left_alone(sprint_run: Sprint, contents: Callable[[Path], dict[str, bytes]]):
    before = contents(sprint_run.whole)
    assert f"Already at step {STEPS} of {STEPS}: nothing to do." in sprint_run.train(sprint_run.whole)
    assert contents(sprint_run.whole) == before


def test_a_damaged_checkpoint_is_passed_over(sprint_run: Sprint, tmp_path: Path):
    run = tmp_path / "run"
    sprint_run.train(run, training__steps=9)
    newest = run / "checkpoints" / "step-00000009" / "model.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1])
    said = sprint_run.train(run)
    sentence = f"{newest}: this file of the checkpoint is damaged. Falling back to the checkpoint before it."
    assert sentence in " ".join(said.split())
    assert "Continuing from step 6 " in said
    sprint_run.check(run)


def damage(file: Path) -> None:
    """Change a file so that it can still be read: the last number in it becomes another."""
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def best_of(run: Path) -> Path:
    """Return the best checkpoint."""
    last = max((run / "checkpoints").glob("step-*"))
    return last.with_name(f"step-{json.loads((last / 'state.json').read_text())['best_step']:08d}")


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_damaged_best_checkpoint_does_not_replace_the_model(sprint_run: Sprint, tmp_path: Path, decay: float):
    # Nothing is exactly right so soon, and the first of equals is the best.
    run, changes = tmp_path / "run", {"training__moving_average": decay, "validation__metric": "exact_match"}
    sprint_run.train(run, **changes)
    best = best_of(run)
    assert best != max((run / "checkpoints").glob("step-*")), "the newest is intact, so that the run is a finished one"
    model = (run / "model.safetensors").read_bytes()
    weights = best / ("average.safetensors" if decay else "model.safetensors")
    damage(weights)
    said = sprint_run.train(run, **changes)
    assert f"{weights}: this file of the checkpoint is damaged." in said
    assert "the model is kept" in said
    assert "nothing to do" in said
    assert (run / "model.safetensors").read_bytes() == model


def test_a_damaged_best_checkpoint_is_an_error_where_there_is_no_model(sprint_run: Sprint, tmp_path: Path):
    run = tmp_path / "run"
    sprint_run.train(run, validation__metric="exact_match")
    (run / "model.safetensors").unlink()
    damage(best_of(run) / "model.safetensors")
    words = ("train", sprint_run.recipe, "--out", run, "--set", "validation.metric=exact_match")
    sprint_run.command(*words).refuses("this file of the checkpoint is damaged")


def test_measuring_does_not_change_learning(sprint_run: Sprint, tmp_path: Path):
    run = tmp_path / "run"
    sprint_run.train(run, validation__every=1, validation__metric="bleu", training__checkpoint_every=5)
    assert final(run)["last weights"] == final(sprint_run.whole)["last weights"]


# --- Killed ----------------------------------------------------------------------------------------------------------


def moments_of_writing(kill_at: int | None) -> Callable[[], int]:
    """Count every moment at which something on the disk changes for good; kill this process at one of them."""
    count = 0

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **names: Any) -> Any:
            nonlocal count
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*arguments, **names)

        return counting

    os.fsync = counted(os.fsync)  # type: ignore[assignment]
    Path.rename = counted(Path.rename)  # type: ignore[method-assign]
    Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    shutil.rmtree = counted(shutil.rmtree)  # type: ignore[assignment]
    return lambda: count


def train_in_a_child(recipe: Path, run: Path, kill_at: int | None = None) -> tuple[int, int]:
    """Train in a fork of this process, which has everything imported; return its end and how often it wrote."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        from commands import run_inside

        count = moments_of_writing(kill_at)
        code = run_inside("train", recipe, "--out", run).code
        os.write(writing, str(count()).encode())
        os._exit(code)
    os.close(writing)
    counted = os.read(reading, 20)
    os.close(reading)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), int(counted or 0)


def kill_everywhere(recipe: Path, folder: Path) -> None:
    """Kill a run at moments spread over all its writing, go on each time, and print what became of it."""
    from commands import run_inside

    whole = folder / "whole"
    run_inside("train", recipe, "--out", whole)  # here and not in a child, so that each child finds everything imported
    _, moments = train_in_a_child(recipe, folder / "counted")
    for moment in range(1, moments + 1, 3):
        run = folder / f"killed-{moment}"
        code, _ = train_in_a_child(recipe, run, kill_at=moment)
        again, _ = train_in_a_child(recipe, run)
        left = [path.name for path in run.rglob(".*")]
        same = again == 0 and final(run) == final(whole) and measured(run) == measured(whole)
        print(json.dumps({"moment": moment, "code": code, "again": again, "same": same, "left": left}), flush=True)


def kill_randomly(recipe: Path, folder: Path) -> None:
    """Kill a run at random moments, again and again, until it comes to its end; print what became of it."""
    from commands import run_inside

    whole, run, chance = folder / "whole", folder / "run", Random(1)
    run_inside("train", recipe, "--out", whole)
    begin = time.monotonic()
    train_in_a_child(recipe, folder / "timed")
    duration = time.monotonic() - begin
    kills = 0
    while kills < KILLS:
        if (child := os.fork()) == 0:
            os._exit(run_inside("train", recipe, "--out", run).code)
        # Late enough to get on a little each time, and any moment after that: steps, checkpoints and validations alike.
        time.sleep(chance.uniform(0.1, 0.5) * duration)
        os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == -signal.SIGKILL:
            kills += 1
            continue
        same = code == 0 and final(run) == final(whole) and measured(run) == measured(whole)
        print(json.dumps({"kills": kills, "same": same}), flush=True)
        shutil.rmtree(run)
    code, _ = train_in_a_child(recipe, run)
    same = code == 0 and final(run) == final(whole) and measured(run) == measured(whole)
    print(json.dumps({"kills": kills, "same": same}), flush=True)


def in_a_process_of_its_own(function: Callable[[Path, Path], None], recipe: Path, folder: Path) -> list[dict[str, Any]]:
    """Run one of the functions above, which fork; return what it printed."""
    words = [sys.executable, __file__, function.__name__, str(recipe), str(folder)]
    alone = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}  # PyTorch can be forked as long as it has started no threads
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=alone)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


KILLS = 12


def test_killed_at_random_moments(recipe_at: Callable[..., Path], tmp_path: Path):
    changes = {"training.steps": 60, "training.checkpoint_every": 1, "validation.every": 10}
    recipe = recipe_at(tmp_path / "recipe.yaml", changes)
    found = in_a_process_of_its_own(kill_randomly, recipe, tmp_path)
    assert found[-1]["kills"] == KILLS
    assert all(one["same"] for one in found), found


def test_killed_at_any_moment_of_writing(sprint_run: Sprint, tmp_path: Path):
    found = in_a_process_of_its_own(kill_everywhere, sprint_run.recipe, tmp_path)
    sprint_run.check(tmp_path / "whole")
    assert len(found) > 10
    assert all(one["code"] == -signal.SIGKILL for one in found)
    different = [one["moment"] for one in found if not one["same"]]
    left = [one["left"] for one in found if one["left"]]
    assert (different, left) == ([], []), "killed there, it ended otherwise; and what was left over"


LONGER = ("--set", "training.steps=100")


@pytest.fixture(scope="module")
def longer(sprint_run: Sprint, command: Callable[..., Any]) -> Path:
    """A run that takes long enough to be killed in the middle, and was not."""
    run = sprint_run.folder / "longer"
    command("train", sprint_run.recipe, "--out", run, *LONGER).succeeds()
    return run


@pytest.mark.parametrize("moment", ["first line", "third checkpoint"])
def test_killed_from_outside(
    sprint_run: Sprint,
    longer: Path,
    tmp_path: Path,
    background: Callable[..., Any],
    command: Callable[..., Any],
    moment: str,
):
    run = tmp_path / "run"
    process = background("train", sprint_run.recipe, "--out", run, *LONGER)
    if moment == "first line":
        process.wait_for(lambda: (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").stat().st_size > 0)
    else:
        process.wait_for(lambda: any(_step(path) >= 9 for path in (run / "checkpoints").glob("step-*")))
    assert process.end(signal.SIGKILL).code == -signal.SIGKILL
    last = Path("checkpoints") / "step-00000100" / "model.safetensors"
    assert not (run / last).exists(), "it was killed before its end"
    command("train", sprint_run.recipe, "--out", run, *LONGER).succeeds()
    assert (run / "model.safetensors").read_bytes() == (longer / "model.safetensors").read_bytes()
    assert (run / last).read_bytes() == (longer / last).read_bytes()
    assert measured(run) == measured(longer)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    {"kill_everywhere": kill_everywhere, "kill_randomly": kill_randomly}[sys.argv[1]](*map(Path, sys.argv[2:]))
