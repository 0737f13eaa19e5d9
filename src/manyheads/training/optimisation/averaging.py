"""The mean of several checkpoints, which is often better than any of them.

The paper averages the last 5 checkpoints of the base model and the last 20 of the big one (section 6.1). Only regular
checkpoints are used, those of steps at which every run of the recipe saves one: a checkpoint that an interruption left
must not change the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import lower_is_better
from manyheads.runs.checkpoints import Progress, checkpoint_folder
from manyheads.runs.weights import Arrays
from manyheads.training.state.checkpoint import published_weights

if TYPE_CHECKING:
    from manyheads.config.tasks import Recipe


def is_regular(step: int, recipe: Recipe) -> bool:
    """Whether every run of the recipe saves a checkpoint at this step."""
    training = recipe.training
    return not (step % training.checkpoint_every and step % recipe.validation.every and step != training.steps)


def steps_to_average(saved: Iterable[int], progress: Progress, recipe: Recipe) -> list[int]:
    """Return those of the saved steps whose checkpoints are averaged; none if the recipe does not average."""
    count = recipe.training.average_checkpoints
    regular = sorted(step for step in saved if is_regular(step, recipe))
    if recipe.training.average == "last":
        return regular[-count:]
    if recipe.training.average == "best":
        scored = [step for step in regular if str(step) in progress.scores]
        sign = 1 if lower_is_better(recipe.metric) else -1
        return sorted(sorted(scored, key=lambda step: (sign * progress.scores[str(step)], -step))[:count])
    return []


def steps_to_keep(saved: Sequence[int], progress: Progress, recipe: Recipe) -> set[int]:
    """Return the steps whose checkpoints must be kept: the newest, the best, and those to be averaged."""
    regular = sorted(step for step in saved if is_regular(step, recipe))
    newest = regular[-recipe.training.keep_checkpoints :]
    kept = {max(saved, default=0), *newest, *steps_to_average(saved, progress, recipe)}
    return kept if progress.best_step is None else kept | {progress.best_step}


@dataclass(frozen=True)
class Mean:
    """The mean of the weights of several checkpoints, and their steps."""

    weights: Arrays
    steps: list[int]


def mean_of_checkpoints(folder: Path, steps: Sequence[int], *, tell: Callable[[str], None]) -> Mean | None:
    """Return the mean of the checkpoints' weights, summed in float64; None if fewer than two can be averaged.

    A damaged checkpoint is left out and reported with `tell`.
    """
    total: dict[str, NDArray[Any]] = {}
    intact: list[int] = []
    for step in steps if len(steps) > 1 else ():
        try:
            weights = published_weights(checkpoint_folder(folder, step))
        except ManyheadsError as error:
            tell(f"{error} It is left out of the mean.")
            continue
        intact.append(step)
        for name, array in weights.items():
            total[name] = total.get(name, np.zeros(())) + array.astype(np.float64)
    if len(intact) < 2:
        return None
    return Mean({name: (array / len(intact)).astype(np.float32) for name, array in total.items()}, intact)
