"""Ending a training well at any time: how many steps are left, and from which of them the rate falls.

A `warmup_constant_decay` schedule is the same at every step whether or not its end is known, until the decay begins. So
the end may be fixed while the run is under way: the two numbers are written into the recipe before they are used, and
the run stays a function of its recipe.
"""

from __future__ import annotations

import re
import statistics
from typing import TypeVar

from manyheads.config.recipe import RecipeBase
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.training.state.checkpoint import saved_steps

R = TypeVar("R", bound=RecipeBase)

DECAY = 0.2  # of all steps: what schedules of this kind are commonly given
RECENT = 10  # entries of the journal that tell the speed
OVERHEAD = 1.08  # validations and checkpoints take time beside the updates

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 60.0}


def seconds_of(text: str) -> float:
    """Return a duration such as 2h, 90m, 1h30m or 45 (minutes) in seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|)", text.strip())
    if not parts or "".join(number + unit for number, unit in parts) != re.sub(r"\s", "", text):
        raise ManyheadsError(f"'{text}' is not a duration.", where="--finish-in", cure="Write 2h, 90m or 1h30m.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def finishing_in(seconds: float, recipe: R, run: RunFolder) -> R:
    """Return the recipe with its end fixed; an end that was fixed before is kept."""
    schedule = recipe.training.schedule
    if schedule.kind != "warmup_constant_decay":
        raise ManyheadsError(
            f"a {schedule.kind} schedule has its end from the beginning.",
            where="--finish-in",
            cure="Leave it out, or train with training.schedule.kind: warmup_constant_decay",
        )
    if schedule.decay_from is not None:
        return recipe
    measured = [entry for entry in run.metrics() if "seconds_per_step" in entry]
    if not measured:
        raise ManyheadsError(
            "this run has not measured its speed yet, so the steps that are left cannot be counted.",
            where="--finish-in",
            cure=f"Let it train for {recipe.training.log_every} steps first, without --finish-in.",
        )
    pace = statistics.median(entry["seconds_per_step"] for entry in measured[-RECENT:])
    step = max(measured[-1]["step"], *saved_steps(run.checkpoints), 0)
    return with_end(recipe, step=step, left=max(1, int(seconds / (pace * OVERHEAD))))


def with_end(recipe: R, *, step: int, left: int) -> R:
    """Return a recipe that ends when `left` steps more than `step` are done, the last fifth of all as a decay."""
    steps = step + left
    begin = max(step, steps - round(DECAY * steps))
    schedule = recipe.training.schedule.model_copy(update={"decay_from": begin})
    return recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"steps": steps, "schedule": schedule})}
    )


def with_end_of(run: RunFolder, recipe: R) -> R:
    """Return a recipe with the end that was fixed for a run before, if the recipe has none of its own."""
    if not run.recipe_file.exists() or recipe.training.schedule.kind != "warmup_constant_decay":
        return recipe
    before = run.recipe().training
    if before.schedule.decay_from is None or recipe.training.schedule.decay_from is not None:
        return recipe
    schedule = recipe.training.schedule.model_copy(update={"decay_from": before.schedule.decay_from})
    return recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"steps": before.steps, "schedule": schedule})}
    )
