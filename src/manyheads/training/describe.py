"""A description of a recipe or a run: how large its model is, what training costs, and how long it takes.

print(describe("recipes/vaswani-base.yaml"))
describe("runs/dates").costs.parameters
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from manyheads.config.models.base import Distances
from manyheads.config.reading import load_recipe
from manyheads.config.recipe import RecipeBase
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.training.costs import Costs, count_costs
from manyheads.training.progress import duration
from manyheads.training.resolve import resolve_recipe


@dataclass(frozen=True)
class Description:
    """The size of a model and the cost of its training. `is_chosen` is that of a `ResolvedRecipe`."""

    name: str
    costs: Costs
    source_vocabulary: int
    target_vocabulary: int
    vocabulary_is_assumed: bool  # since the size of the vocabulary depends on the text
    is_chosen: bool = False
    length: int = 0  # of the longest sequence, for which the distances are
    distances: Distances | None = None

    def __str__(self) -> str:
        return "\n".join([self.name, *(f"  {label:<18}{value}" for label, value in self._rows())])

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it."""
        return f"<pre>{escape(str(self))}</pre>"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {
            "name": self.name,
            **asdict(self.costs),
            "source_vocabulary": self.source_vocabulary,
            "target_vocabulary": self.target_vocabulary,
            "vocabulary_is_assumed": self.vocabulary_is_assumed,
            "length": self.length,
            "sequential_operations": self.distances and self.distances.sequential,
            "longest_path": self.distances and self.distances.path,
        }

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield labels and values for people."""
        costs = self.costs
        assumed = " (assumed: the text decides)" if self.vocabulary_is_assumed else ""
        yield "vocabulary", f"{self.source_vocabulary:,} source and {self.target_vocabulary:,} target pieces{assumed}"
        yield "parameters", f"{costs.parameters:,}"
        yield "FLOPs per update", f"{costs.flops_per_update:.3g} for {costs.tokens_per_update:,} target tokens"
        yield "training FLOPs", f"{costs.training_flops:.3g} in {costs.steps:,} updates"
        yield from self._distances()
        memory, activations = costs.memory_bytes / 2**30, costs.activation_bytes / 2**30
        yield "memory", f"{memory:.2f} GiB, of which activations {activations:.2f} GiB"
        peak = f"{costs.measured_peak / 1e9:,.0f} GFLOPS"
        yield "utilisation", f"{costs.assumed_utilisation:.0%} of peak assumed; the peak measured here is {peak}"
        for machine in costs.machines:
            yield "expected time", f"{_expected_time(3600 * machine.hours)} on {machine.name}"

    def _distances(self) -> Iterator[tuple[str, str]]:
        """Yield what is known of the distances between the ends of a sequence."""
        if self.distances is None:
            return
        sequential, path = self.distances
        yield "sequential", f"{sequential:,} operations one after another, for sequences of {self.length:,} tokens"
        yield "longest path", "none: too few layers for this length" if path is None else f"{path:,} operations"


def describe(recipe_or_run: RecipeBase | PathLike[str] | str, *, changes: Sequence[str] = ()) -> Description:
    """Return the size of a model and the cost of training it, without training it.

    Args:
        recipe_or_run: A recipe, the path of one, or a run folder.
        changes: Changes to the recipe, such as `model.width=512`.

    Raises:
        ManyheadsError: If there is no such recipe or run, or it has a mistake.
    """
    if isinstance(recipe_or_run, RecipeBase) or not Path(recipe_or_run).is_dir():
        (recipe, is_chosen), config = resolve_recipe(recipe_or_run, changes), None
    else:
        run = RunFolder(Path(recipe_or_run))
        recipe, is_chosen, config = load_recipe(run.recipe_file, changes), False, run.config()
    plan = task_for(recipe).plan(recipe, config)
    source, target = plan.config.vocabulary_sizes
    length = min(recipe.longest, plan.config.model.longest or recipe.longest)
    return Description(
        recipe.name,
        count_costs(recipe, plan),
        source,
        target,
        plan.assumed,
        is_chosen,
        length,
        plan.config.model.distances(length),
    )


def _expected_time(seconds: float) -> str:
    """Return a time in suitable units."""
    return duration(round(seconds)) if seconds >= 1 else "less than 1 s"
