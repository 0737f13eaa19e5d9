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
    from manyheads.config.recipe import load_recipe
    from manyheads.runs.folder import RunFolder

    is_run = what.is_dir()
    recipe = load_recipe(what / "recipe.yaml" if is_run else what, changes or [])

    from manyheads.training.costs import config_for, count_costs

    config = RunFolder(what).config() if is_run else config_for(recipe)
    costs = count_costs(recipe, config)
    if as_json:
        import json

        vocabulary = {
            "source_vocabulary": config.source_vocabulary,
            "target_vocabulary": config.target_vocabulary,
        }
        typer.echo(json.dumps({"name": recipe.name, **asdict(costs), **vocabulary}, ensure_ascii=False, indent=2))
        return
    _print(recipe.name, costs)


def _print(name: str, costs: Costs) -> None:
    """Print the costs as a short table."""
    rows = [
        ("parameters", f"{costs.parameters:,}"),
        ("FLOPs per update", f"{costs.flops_per_update:.3g} for {costs.tokens_per_update:,} target tokens"),
        ("training FLOPs", f"{costs.training_flops:.3g} in {costs.steps:,} updates"),
        (
            "memory",
            f"{costs.memory_bytes / 2**30:.2f} GiB, of which activations {costs.activation_bytes / 2**30:.2f} GiB",
        ),
    ]
    rows += [("expected time", f"{machine.hours:,.1f} hours on {machine.name}") for machine in costs.machines]
    typer.echo(name)
    for label, value in rows:
        typer.echo(f"  {label:<18}{value}")
