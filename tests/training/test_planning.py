"""Time as a part of the recipe: what fits into it is measured once, written down, and then followed."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from helpers import prepared
from manyheads.config.reading import load_recipe
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.training.fitting import MOST_EPOCHS, SCALES, ChosenFitting, flops_per_token
from manyheads.training.machine.pace import measure_pace
from manyheads.training.optimisation.schedule import learning_rate
from manyheads.training.planning import Computer, plan_run
from manyheads.training.progress import Reporter
from manyheads.training.train import train

CPU = torch.device("cpu")
TIMED = {
    "training.steps": 100_000,
    "training.minutes": 0.02,
    "training.schedule": {"kind": "warmup_constant_decay", "rate": 0.01, "warmup": 4},
    "validation.every": 1000,
    "training.checkpoint_every": 5,
    "training.log_every": 1,
}


class Stopping(Reporter):
    """Ends a training at a step as abruptly as a killed process does."""

    def __init__(self, step: int) -> None:
        super().__init__(quiet=True)
        self._last = step

    def update(self, step: int, facts: str) -> None:
        """Die at the step."""
        if step >= self._last:
            raise InterruptedError


def weights(run: Path) -> bytes:
    """Return the bytes of a run's model."""
    return (run / "model.safetensors").read_bytes()


def test_the_steps_are_measured_and_written_into_the_recipe(sprint: Callable[..., Path], tmp_path: Path):
    run = train(sprint(TIMED), out=tmp_path / "run")
    settings = load_recipe(run.recipe_file).training
    assert settings.minutes == TIMED["training.minutes"]
    assert 20 <= settings.steps < 100_000
    assert settings.schedule.decay_from is not None
    assert 0 < settings.schedule.decay_from < settings.steps
    assert settings.precision != "auto"
    assert settings.threads > 0
    last = [entry for entry in run.metrics() if entry["kind"] == "validation"][-1]
    assert last["step"] == settings.steps, "the last step is taken"
    assert learning_rate(settings.schedule, settings.steps, width=1, steps=settings.steps) == 0.0, "and so is the decay"


def test_the_recorded_plan_gives_the_same_bytes_stopped_or_not(sprint: Callable[..., Path], tmp_path: Path):
    recipe, run = sprint(TIMED), tmp_path / "run"
    train(recipe, out=run)
    planned = tmp_path / "planned.yaml"
    planned.write_bytes((run / "recipe.yaml").read_bytes())
    steps = load_recipe(planned).training.steps
    stopped = tmp_path / "stopped"
    for end in (steps // 3, steps // 2):
        with pytest.raises(InterruptedError):
            train(planned, out=stopped, progress=Stopping(end))
        assert load_recipe(stopped / "recipe.yaml").training == load_recipe(planned).training
    train(planned, out=stopped)
    assert weights(stopped) == weights(run)
    train(recipe, out=run)  # what is written in the run counts: nothing is measured again
    assert load_recipe(run / "recipe.yaml").training.steps == steps


def test_more_minutes_continue_a_run_that_has_ended(sprint: Callable[..., Path], tmp_path: Path, command: Any):
    recipe, run = sprint(TIMED), tmp_path / "run"
    command("train", recipe, "--out", run).succeeds("Finished at step")
    before = load_recipe(run / "recipe.yaml").training
    words = ["train", recipe, "--out", run, "--max-minutes"]
    command(*words, before.minutes).succeeds("nothing to do")
    command(*words, 3 * before.minutes).succeeds("Continuing from step", "Finished at step")
    after = load_recipe(run / "recipe.yaml").training
    assert after.minutes == pytest.approx(3 * before.minutes)
    assert after.steps > before.steps
    assert after.schedule.decay_from > before.steps - 1


def test_time_needs_a_schedule_whose_end_is_open(sprint: Callable[..., Path]):
    with pytest.raises(ManyheadsError, match=r"minutes.*warmup_constant_decay"):
        load_recipe(sprint(TIMED | {"training.schedule": {"kind": "linear", "rate": 0.01}}))


def test_the_time_that_was_spent_before_is_taken_off(sprint: Callable[..., Path], tmp_path: Path):
    def steps(begin: float) -> int:
        """Return the steps of a plan that was begun at a time."""
        task = prepared(load_recipe(sprint(TIMED)), RunFolder(tmp_path / f"run{begin}"))
        return plan_run(task, Computer(CPU, 1, begin), fitting=None, tell=print).recipe.training.steps

    assert steps(-1e6) == 20, "nothing is left"
    assert steps(1e6) > 1000, "there is time"


def test_a_pace_counts_updates_after_the_first_ones(sprint: Callable[..., Path], tmp_path: Path):
    task = prepared(load_recipe(sprint()), RunFolder(tmp_path / "run"))
    ticks = itertools.count()
    pace = measure_pace(
        task, threads=1, precision="float32", products="torch", seconds=7, device=CPU, clock=lambda: float(next(ticks))
    )
    assert pace.tokens_per_update > 0
    assert pace.seconds_per_update == 1, "the clock is read once for each update, and the first ones are left out"
    assert pace.tokens_per_second == pace.tokens_per_update / pace.seconds_per_update
    assert pace.flops_per_second > 0


def scaled(sprint: Callable[..., Path], tmp_path: Path, changes: dict[str, Any] | None = None) -> Any:
    """Return a prepared run of the smallest scale."""
    sizes = {f"model.{name}": size for name, size in SCALES[0]._asdict().items()}
    return prepared(load_recipe(sprint(sizes | (changes or {}))), RunFolder(tmp_path / "run"))


def test_more_flops_get_a_larger_model(sprint: Callable[..., Path], tmp_path: Path):
    task, fitting = scaled(sprint, tmp_path), ChosenFitting(frozenset())
    costs = flops_per_token(task)
    widths = [fitting.model(task, costs * tokens).model.width for tokens in (1, 1e6, 1e7, 1e8, 1e12)]
    assert widths[0] == SCALES[0].width
    assert widths == sorted(widths)
    assert widths[-1] == SCALES[-1].width
    larger = task.with_recipe(fitting.model(task, 1e20))
    assert larger.config.model.width == SCALES[-1].width
    assert flops_per_token(larger) > costs


@pytest.mark.parametrize("change", ["model.width=96", "model.preset=tiny", "model={width: 96}"])
def test_sizes_that_are_given_stay(sprint: Callable[..., Path], tmp_path: Path, change: str):
    task = scaled(sprint, tmp_path)
    assert ChosenFitting.with_changes([change]).model(task, 1e20) == task.recipe


def test_sizes_that_are_no_scale_stay(sprint: Callable[..., Path], tmp_path: Path):
    task = scaled(sprint, tmp_path, {"model.feed_forward": 40})
    assert ChosenFitting(frozenset()).model(task, 1e20) == task.recipe


def test_few_steps_need_no_dropout_and_many_are_not_taken(sprint: Callable[..., Path], tmp_path: Path):
    task, fitting = scaled(sprint, tmp_path), ChosenFitting(frozenset())
    epoch = task.batches_at(0).per_epoch
    assert fitting.intervals(task, epoch).model.dropout == 0
    assert fitting.intervals(task, 50 * epoch).model.dropout > fitting.intervals(task, 10 * epoch).model.dropout > 0
    endless = fitting.intervals(task, 10_000_000)
    assert endless.training.steps == MOST_EPOCHS * epoch
    assert 0 < endless.training.schedule.warmup < endless.training.steps
    assert endless.validation.every < endless.training.steps
    given = ChosenFitting.with_changes(["model.dropout=0.3", "validation.every=7", "training.schedule.warmup=9"])
    kept = given.intervals(task, 10)
    assert kept.model.dropout == task.recipe.model.dropout
    assert kept.validation.every == task.recipe.validation.every
    assert kept.training.schedule.warmup == task.recipe.training.schedule.warmup
