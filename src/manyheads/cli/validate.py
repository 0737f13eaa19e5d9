"""`manyheads validate`: whether a recipe would run, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import AsJson, Changes

if TYPE_CHECKING:
    from manyheads.config.tasks import Recipe


def validate(
    recipe: Annotated[Path, typer.Argument(help="A recipe.", show_default=False)],
    changes: Changes = None,
    files: Annotated[bool, typer.Option(help="Also look whether the files it names are there.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check a recipe: every key, every value, how they fit together, and whether its files exist."""
    from manyheads.config.reading import load_recipe, recipe_text

    settings: Recipe = load_recipe(recipe, changes or [])
    chosen = None
    if files:
        from manyheads.tasks import task_for
        from manyheads.training.defaults import recipe_left_open

        task_for(settings).check_files(settings)
        chosen = recipe_left_open(recipe, changes or [])
        settings = chosen or settings
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
    else:
        typer.echo(recipe_text(settings), nl=False)
        typer.echo(f"{recipe} is valid.", err=True)
        if chosen:
            typer.echo("It has data alone: tokenizer, model and training are chosen for it.", err=True)
