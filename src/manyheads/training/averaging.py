"""The mean of several checkpoints, which is often better than any of them.

The paper averages the last 5 checkpoints of the base model and the last 20 of the big one (section 6.1). Only regular
checkpoints count, those of steps at which every run of the recipe saves: what an interruption left behind must not
change the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyheads.config.recipe import AnyRecipe
from manyheads.metrics.scores import lower_is_better
from manyheads.runs.weights import Arrays, read_weights
from manyheads.training.checkpoint import MODEL, Progress


def is_regular(step: int, recipe: AnyRecipe) -> bool:
    """Whether every run of the recipe saves a checkpoint at this step."""
    training = recipe.training
    return not (step % training.checkpoint_every and step % recipe.validation.every and step != training.steps)


def steps_to_average(saved: Iterable[int], progress: Progress, recipe: AnyRecipe) -> list[int]:
    """Return the steps whose checkpoints are to be averaged, of those that are saved; none where it is not asked."""
    count = recipe.training.average_checkpoints
    regular = sorted(step for step in saved if is_regular(step, recipe))
    if recipe.training.average == "last":
        return regular[-count:]
    if recipe.training.average == "best":
        scored = [step for step in regular if str(step) in progress.scores]
        sign = 1 if lower_is_better(recipe.metric) else -1
        return sorted(sorted(scored, key=lambda step: (sign * progress.scores[str(step)], -step))[:count])
    return []


def steps_to_keep(saved: Sequence[int], progress: Progress, recipe: AnyRecipe) -> set[int]:
    """Return the steps whose checkpoints must not be removed yet: the newest, the best, and those to be averaged."""
    regular = sorted(step for step in saved if is_regular(step, recipe))
    kept = {max(saved), *regular[-recipe.training.keep_checkpoints :], *steps_to_average(saved, progress, recipe)}
    return kept if progress.best_step is None else kept | {progress.best_step}


def mean_of_checkpoints(folders: Sequence[Path]) -> Arrays:
    """Return the mean of the checkpoints' weights, added up in float64."""
    total: dict[str, NDArray[Any]] = {}
    for folder in folders:
        for name, array in read_weights(folder / MODEL).items():
            total[name] = total.get(name, np.zeros(())) + array.astype(np.float64)
    return {name: (array / len(folders)).astype(np.float32) for name, array in total.items()}
