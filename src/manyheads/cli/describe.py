"""`manyheads describe`: a model's parameters, FLOPs, memory and expected time, before anything is trained."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import AsJson, Changes

if TYPE_CHECKING:
    from manyheads.training.costs import Costs


def describe(
    what: Annotated[Path, typer.Argument(help="A recipe or a run folder.", show_default=False)],
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Say how large a model is, what training it costs, and how long that takes."""
    from manyheads.config.reading import load_recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.tasks import task_for
    from manyheads.training.costs import count_costs
    from manyheads.training.defaults import recipe_left_open

    is_run = what.is_dir()
    chosen = None if is_run else recipe_left_open(what, changes or [])
    recipe = chosen or load_recipe(what / "recipe.yaml" if is_run else what, changes or [])
    plan = task_for(recipe).plan(recipe, RunFolder(what).config() if is_run else None)
    costs = count_costs(recipe, plan)
    source, target = plan.config.vocabulary_sizes
    if as_json:
        import json

        vocabulary = {
            "source_vocabulary": source,
            "target_vocabulary": target,
            "vocabulary_is_assumed": plan.assumed,
        }
        typer.echo(json.dumps({"name": recipe.name, **asdict(costs), **vocabulary}, ensure_ascii=False, indent=2))
        return
    _print(recipe.name, costs, _vocabulary(source, target, assumed=plan.assumed))
    if chosen:
        typer.echo(f"{what} has data alone: tokenizer, model and training are chosen for it.", err=True)


def _vocabulary(source: int, target: int, *, assumed: bool) -> str:
    """Return how many pieces the model has, and whether that is an assumption."""
    guess = " (assumed: the text decides)" if assumed else ""
    return f"{source:,} source and {target:,} target pieces{guess}"


def _time(seconds: float) -> str:
    """Return an expected time in the units that suit it."""
    from manyheads.training.progress import duration

    return duration(round(seconds)) if seconds >= 1 else "less than 1 s"


def _print(name: str, costs: Costs, vocabulary: str) -> None:
    """Print the costs as a short table."""
    rows = [
        ("vocabulary", vocabulary),
        ("parameters", f"{costs.parameters:,}"),
        ("FLOPs per update", f"{costs.flops_per_update:.3g} for {costs.tokens_per_update:,} target tokens"),
        ("training FLOPs", f"{costs.training_flops:.3g} in {costs.steps:,} updates"),
        (
            "memory",
            f"{costs.memory_bytes / 2**30:.2f} GiB, of which activations {costs.activation_bytes / 2**30:.2f} GiB",
        ),
    ]
    peak = f"{costs.measured_peak / 1e9:,.0f} GFLOPS"
    rows += [("utilisation", f"{costs.assumed_utilisation:.0%} of peak assumed; the peak measured here is {peak}")]
    rows += [("expected time", f"{_time(3600 * machine.hours)} on {machine.name}") for machine in costs.machines]
    typer.echo(name)
    for label, value in rows:
        typer.echo(f"  {label:<18}{value}")
