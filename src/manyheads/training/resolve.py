"""A recipe as it is trained: read from its file, checked, and completed if the file has data alone."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from manyheads.config.reading import load_recipe
from manyheads.config.recipe import RecipeBase
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.errors import ManyheadsError
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.training.defaults import recipe_left_open


class ResolvedRecipe(NamedTuple):
    """A recipe, and whether its tokenizer, model and training were chosen to suit its data."""

    recipe: RecipeBase
    is_chosen: bool


def resolve_recipe(
    recipe: RecipeBase | PathLike[str] | str, changes: Sequence[str] = (), look: FirstLook | None = None
) -> ResolvedRecipe:
    """Return a recipe, or read it; if its file has data alone, the rest is chosen by the amount of data.

    `look` then sees the pairs.
    """
    if isinstance(recipe, RecipeBase):
        if changes:
            raise ManyheadsError("changes are for a recipe in a file: change the recipe itself.", where="changes")
        return ResolvedRecipe(recipe, is_chosen=False)
    path = Path(recipe)
    chosen = recipe_left_open(path, changes, look)
    return ResolvedRecipe(chosen or load_recipe(path, changes), is_chosen=chosen is not None)


def validate(recipe: PathLike[str] | str, *, changes: Sequence[str] = (), files: bool = True) -> ResolvedRecipe:
    """Return a recipe with all its keys, after a check that it can be trained.

    Args:
        recipe: The path of a recipe.
        changes: Changes to the recipe, such as `training.steps=1000`.
        files: Whether to check that the files which the recipe names can be read. A recipe with data alone is completed
            only then, since that depends on its files.

    Raises:
        ManyheadsError: If the recipe has a mistake, or a file is missing.
    """
    settings = load_recipe(Path(recipe), changes)
    if not files:
        return ResolvedRecipe(settings, is_chosen=False)
    task_for(settings).check_files(settings)
    if settings.start_from is not None:
        _check_run(settings.start_from)
    return resolve_recipe(recipe, changes)


def _check_run(start_from: str) -> None:
    """Raise an error if there is no run or model to start from."""
    RunFolder.open(start_from).config()
