"""`manyheads train --serve`: what can be checked before the training, and the server that starts when it ends."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import typer

from manyheads.cli.serve import check_extra
from manyheads.errors import ManyheadsError
from manyheads.serving.options import ServerOptions, build_options, variable

if TYPE_CHECKING:
    from manyheads.config.recipe import RecipeBase
    from manyheads.runs.folder import RunFolder
    from manyheads.training.files import Files

ENDED = ("finished", "stopped early", "out of time", "nothing to do")  # outcomes after which the server starts


@dataclass(frozen=True)
class ServerAfterwards:
    """A server that will start with a run's model: its options, and the direction for a recipe that names none."""

    options: ServerOptions
    direction: str

    @classmethod
    def prepare(cls, recipe: Path | None, files: Files | None, changes: Sequence[str], *, port: int | None) -> Self:
        """Check that the extra is installed, the port is free and the languages are known."""
        check_extra()
        from manyheads.serving.server import listen

        given = {
            name: os.environ[variable(name)] for name in ServerOptions.model_fields if variable(name) in os.environ
        }
        options = build_options({**given, **({} if port is None else {"port": port})})
        listen(options.host, options.port).close()
        if files is not None:
            languages = files.languages()
            return cls(options, f"{languages.source}-{languages.target}")
        if recipe is not None:
            _check_recipe(recipe, changes)
        return cls(options, "")

    def start(self, run: RunFolder) -> None:
        """Serve a run until a signal is received."""
        from manyheads.serving.server import serve_runs

        named = _names_languages(run.recipe())
        argument = str(run.path) if named else f"{self.direction}={run.path}"
        serve_runs([argument], self.options, tell=lambda line: typer.echo(line, err=True))


def _check_recipe(path: Path, changes: Sequence[str]) -> None:
    """Refuse a recipe whose model could not be served."""
    from manyheads.config.reading import load_recipe
    from manyheads.training.files import refuse_text

    refuse_text(path)
    if not _names_languages(load_recipe(path, changes)):
        raise ManyheadsError(
            "this recipe does not name its languages, by which a server chooses a model.",
            where=str(path),
            cure="Name them: --set data.source_language=en --set data.target_language=de",
        )


def _names_languages(recipe: RecipeBase) -> bool:
    """Return whether a recipe names the languages of at least one direction; for another task, raise an error."""
    from manyheads.config.tasks.translation import TranslationRecipe

    if not isinstance(recipe, TranslationRecipe):
        raise ManyheadsError("only a model that translates can be served.", where="--serve", cure="Leave it out.")
    data = recipe.data
    if data.directions:
        return any(source is not None for source, _ in data.directions)
    return data.source_language is not None and data.target_language is not None
