"""`manyheads validate`: whether a recipe would run, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.options import AsJson, Changes


def validate(
    recipe: Annotated[Path, typer.Argument(help="A recipe.", show_default=False)],
    changes: Changes = None,
    files: Annotated[bool, typer.Option(help="Also look whether the files it names are there.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check a recipe: every key, every value, how they fit together, and whether its files exist."""
    from manyheads.config.recipe import load_recipe, recipe_text

    settings = load_recipe(recipe, changes or [])
    if files:
        from manyheads.data.corpora import open_corpus

        for corpus in settings.data.corpora:
            open_corpus(corpus, split="train")
        if settings.data.valid is not None:
            open_corpus(settings.data.valid, split="valid")
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
    else:
        typer.echo(recipe_text(settings), nl=False)
        typer.echo(f"{recipe} is valid.", err=True)
