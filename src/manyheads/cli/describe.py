"""`manyheads describe`: a model's parameters, FLOPs, memory and expected time, before anything is trained."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import AsJson, Changes

if TYPE_CHECKING:
    from manyheads.config.schema import ModelConfig
    from manyheads.training.costs import Costs


def describe(
    what: Annotated[Path, typer.Argument(help="A recipe or a run folder.", show_default=False)],
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Say how large a model is, what training it costs, and how long that takes."""
    from manyheads.config.recipe import load_recipe
    from manyheads.runs.folder import RunFolder
    from manyheads.training.defaults import recipe_left_open

    is_run = what.is_dir()
    chosen = None if is_run else recipe_left_open(what, changes or [])
    recipe = chosen or load_recipe(what / "recipe.yaml" if is_run else what, changes or [])

    from manyheads.training.costs import config_for, count_costs, vocabulary_is_assumed

    config = RunFolder(what).config() if is_run else config_for(recipe)
    assumed = not is_run and vocabulary_is_assumed(recipe)
    costs = count_costs(recipe, config)
    if as_json:
        import json

        vocabulary = {
            "source_vocabulary": config.source_vocabulary,
            "target_vocabulary": config.target_vocabulary,
            "vocabulary_is_assumed": assumed,
        }
        typer.echo(json.dumps({"name": recipe.name, **asdict(costs), **vocabulary}, ensure_ascii=False, indent=2))
        return
    _print(recipe.name, costs, _vocabulary(config, assumed=assumed))
    if chosen:
        typer.echo(f"{what} has data alone: tokenizer, model and training are chosen for it.", err=True)


def _vocabulary(config: ModelConfig, *, assumed: bool) -> str:
    """Say how many pieces the model knows, and whether that is a guess."""
    guess = " (assumed: the characters or symbols of the text decide)" if assumed else ""
    return f"{config.source_vocabulary:,} source and {config.target_vocabulary:,} target pieces{guess}"


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
