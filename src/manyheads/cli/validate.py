"""`manyheads validate`: whether a recipe would run, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.options import AsJson, Changes


def validate(
    recipe: Annotated[Path, typer.Argument(help="A recipe.", show_default=False)],
    changes: Changes = None,
    files: Annotated[bool, typer.Option(help="Also check that the files it names exist.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check a recipe: every key, every value, how they fit together, and whether its files exist."""
    from manyheads.config.reading import recipe_text
    from manyheads.training.resolve import validate as check_recipe

    settings, is_chosen = check_recipe(recipe, changes=changes or (), files=files)
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
        return
    typer.echo(recipe_text(settings), nl=False)
    typer.echo(f"{recipe} is valid.", err=True)
    if is_chosen:
        typer.echo("It has only data: tokenizer, model and training are chosen automatically.", err=True)
