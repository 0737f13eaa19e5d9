"""Time as a part of the recipe: what fits into it is measured before the first update, and written into the recipe.

The number of steps, the step at which the rate begins to fall, the threads and the precision are fixed together; where
a recipe was chosen for its data, the size of the model too (`fitting`). From then on, the run is a function of its
recipe: it can be killed and resumed, and its last steps are never cut off, even if the machine becomes slower.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch

from manyheads.config.recipe import RecipeBase
from manyheads.runs.checkpoints import saved_steps
from manyheads.runs.folder import RunFolder
from manyheads.tasks.interface import Task, Tell
from manyheads.training.machine.pace import Pace, fastest_pace, measure_pace
from manyheads.training.state.finishing import RECENT, with_end

R = TypeVar("R", bound=RecipeBase)

UPDATES = 0.93  # of the time that is left; validations and checkpoints take the rest
DECAY = 0.5  # of all steps: in short trainings a long decay is worth more than many steps at the peak rate
PROBE = 0.004  # of the time, for each measurement
SHORTEST_PROBE, LONGEST_PROBE = 1.0, 5.0  # seconds
FEWEST_STEPS = 20


class Fitting(Protocol):
    """Fits what was chosen for the data to the time."""

    def model(self, task: Task[Any, Any], flops: float) -> RecipeBase:
        """Return the task's recipe with the model that is best learned in a number of FLOPs."""
        ...

    def intervals(self, task: Task[Any, Any], steps: int) -> RecipeBase:
        """Return the task's recipe with as many of these steps as are worth taking, and intervals that suit them."""
        ...


@dataclass(frozen=True)
class Computer:
    """What a plan is made for: a device, the most threads, and when training was started."""

    device: torch.device
    threads: int
    begin: float  # by `time.perf_counter`

    @property
    def elapsed(self) -> float:
        """Seconds since training was started."""
        return time.perf_counter() - self.begin


def plan_run(task: Task[Any, Any], computer: Computer, *, fitting: Fitting | None, tell: Tell) -> Task[Any, Any]:
    """Measure what fits into the recipe's time, write it into the run's recipe, and return the task with it.

    Nothing is measured where that is done already, or where the recipe has a number of steps.
    """
    minutes = task.recipe.training.minutes
    if minutes is None or not task.recipe.training.is_open_ended:
        return task
    probe = min(LONGEST_PROBE, max(SHORTEST_PROBE, PROBE * 60 * minutes))
    pace = fastest_pace(task, threads=computer.threads, seconds=probe, device=computer.device, tell=tell)
    task = task.with_recipe(_computing_at(pace, task.recipe))
    if fitting is not None:
        left = 60 * minutes - computer.elapsed
        task = task.with_recipe(fitting.model(task, left * UPDATES * pace.flops_per_second))
        pace = measure_pace(
            task,
            threads=pace.threads,
            precision=pace.precision,
            products=pace.products,
            seconds=probe,
            device=computer.device,
        )
    steps = max(FEWEST_STEPS, int((60 * minutes - computer.elapsed) * UPDATES / pace.seconds_per_update))
    recipe: RecipeBase = task.recipe
    if fitting is not None:
        recipe = fitting.intervals(task, steps)
        steps = recipe.training.steps
    task = task.with_recipe(with_end(recipe, step=0, left=steps, decay=DECAY))
    task.run.replace_recipe(task.recipe, task.config)
    tell(f"In {minutes:g} minutes: {steps:,} steps at {pace}.")
    return task


def longer(recipe: R, run: RunFolder, minutes: float) -> R:
    """Return a recipe that was planned for fewer minutes with an end that is later by the difference."""
    before = recipe.training
    if before.minutes is None or before.is_open_ended or minutes <= before.minutes:
        return recipe
    seconds = [entry["seconds_per_step"] for entry in run.metrics() if "seconds_per_step" in entry]
    step = max(saved_steps(run.checkpoints), default=0)
    if not seconds or not step:
        return recipe
    more = int(60 * (minutes - before.minutes) * UPDATES / statistics.median(seconds[-RECENT:]))
    training = before.model_copy(update={"minutes": minutes})
    return with_end(
        recipe.model_copy(update={"training": training}), step=step, left=before.steps - step + more, decay=DECAY
    )


def _computing_at(pace: Pace, recipe: R) -> R:
    """Return a recipe with the threads and the precision of a pace."""
    update = {"threads": pace.threads, "precision": pace.precision, "products": pace.products}
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=update)})
