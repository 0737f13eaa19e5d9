"""`manyheads validate`: whether a recipe would run, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyheads.cli.options import AsJson, Changes

if TYPE_CHECKING:
    from manyheads.config.recipe import AnyRecipe


def validate(
    recipe: Annotated[Path, typer.Argument(help="A recipe.", show_default=False)],
    changes: Changes = None,
    files: Annotated[bool, typer.Option(help="Also look whether the files it names are there.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check a recipe: every key, every value, how they fit together, and whether its files exist."""
    from manyheads.config.recipe import load_any_recipe, recipe_text

    settings: AnyRecipe = load_any_recipe(recipe, changes or [])
    chosen = None
    if files:
        from manyheads.training.defaults import recipe_left_open

        _open_files(settings)
        chosen = recipe_left_open(recipe, changes or [])
        settings = chosen or settings
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
    else:
        typer.echo(recipe_text(settings), nl=False)
        typer.echo(f"{recipe} is valid.", err=True)
        if chosen:
            typer.echo("It has data alone: tokenizer, model and training are chosen for it.", err=True)


def _open_files(recipe: AnyRecipe) -> None:
    """Look whether everything is there that a recipe names."""
    from manyheads.config.schema import Recipe

    if not isinstance(recipe, Recipe):
        from manyheads.data.text.examples import read_examples

        read_examples(recipe.data.train, recipe.task, split="train")
        read_examples(recipe.data.valid, recipe.task, split="valid")
        return
    from manyheads.data.text.corpora import open_corpus

    for corpus in recipe.data.corpora:
        open_corpus(corpus, split="train")
    for corpus in recipe.data.valid_corpora:
        open_corpus(corpus, split="valid")
