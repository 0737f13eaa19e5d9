"""Choosing the end of a run while it is running: how many steps are left, and at which of them the decay begins.

Until the decay begins, a `warmup_constant_decay` schedule does not depend on its end. So the end can be fixed while the
run is running: both numbers are written into the recipe before they are used, and the run remains a function of its
recipe.
"""

from __future__ import annotations

import re
import statistics
from typing import TypeVar

from manyheads.config.recipe import RecipeBase
from manyheads.errors import ManyheadsError
from manyheads.runs.checkpoints import saved_steps
from manyheads.runs.folder import RunFolder

R = TypeVar("R", bound=RecipeBase)

DECAY = 0.2  # of all steps: the usual fraction for schedules of this kind
RECENT = 10  # entries of the journal from which the speed is measured
OVERHEAD = 1.08  # validations and checkpoints take time in addition to the updates

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 60.0}


def seconds_of(text: str) -> float:
    """Return a duration such as 2h, 90m, 1h30m or 45 (minutes) in seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|)", text.strip())
    if not parts or "".join(number + unit for number, unit in parts) != re.sub(r"\s", "", text):
        raise ManyheadsError(f"'{text}' is not a duration.", where="--finish-in", cure="Write 2h, 90m or 1h30m.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def finishing_in(seconds: float, recipe: R, run: RunFolder) -> R:
    """Return the recipe with its end fixed so that it finishes in the given time; an end fixed before is kept."""
    schedule = recipe.training.schedule
    if schedule.kind != "warmup_constant_decay":
        raise ManyheadsError(
            f"a {schedule.kind} schedule has a fixed end.",
            where="--finish-in",
            cure="Leave it out, or train with training.schedule.kind: warmup_constant_decay",
        )
    if schedule.decay_from is not None:
        return recipe
    measured = [entry for entry in run.metrics() if "seconds_per_step" in entry]
    if not measured:
        raise ManyheadsError(
            "this run has not measured its speed yet, so the number of remaining steps is unknown.",
            where="--finish-in",
            cure=f"Let it train for {recipe.training.log_every} steps first, without --finish-in.",
        )
    seconds_per_step = statistics.median(entry["seconds_per_step"] for entry in measured[-RECENT:])
    step = max(measured[-1]["step"], *saved_steps(run.checkpoints), 0)
    return with_end(recipe, step=step, left=max(1, int(seconds / (seconds_per_step * OVERHEAD))))


def with_end(recipe: R, *, step: int, left: int, decay: float = DECAY) -> R:
    """Return a recipe that ends `left` steps after `step`; the rate falls over the last `decay` of all steps."""
    steps = step + left
    begin = max(step, steps - round(decay * steps))
    schedule = recipe.training.schedule.model_copy(update={"decay_from": begin})
    return recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"steps": steps, "schedule": schedule})}
    )


def with_end_of(run: RunFolder, recipe: R) -> R:
    """Return a recipe with what was fixed for this run earlier, unless the recipe has its own end.

    That is its end, and where this was planned for a time, the threads and the precision in which it was measured.
    """
    earlier = run.recipe() if run.recipe_file.exists() else run.begun_with()
    if earlier is None or recipe.training.schedule.kind != "warmup_constant_decay":
        return recipe
    before = earlier.training
    if before.schedule.decay_from is None or recipe.training.schedule.decay_from is not None:
        return recipe
    schedule = recipe.training.schedule.model_copy(update={"decay_from": before.schedule.decay_from})
    update: dict[str, object] = {"steps": before.steps, "schedule": schedule}
    if recipe.training.minutes is not None and before.minutes is not None:
        names = ("minutes", "threads", "precision", "products")
        update |= {name: getattr(before, name) for name in names}
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=update)})
