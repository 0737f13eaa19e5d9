"""`manyheads recipe new`: a recipe to start from, every key explained in place."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.outputs import Overwrite, output_file

app = typer.Typer(name="recipe", help="Write recipes.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Write recipes."""


@app.command("new")
def new(
    path: Annotated[Path | None, typer.Argument(help="Where to write it; default: standard output.")] = None,
    overwrite: Overwrite = False,
    task: Annotated[str, typer.Option(help="What is to be learned, such as translation or classification.")] = (
        "translation"
    ),
    model: Annotated[
        str | None, typer.Option(help="The kind of model.", show_default="the first one that the task has")
    ] = None,
) -> None:
    """Write a recipe in which every key is explained."""
    from manyheads.config.template import recipe_template

    if path is None:
        typer.echo(recipe_template(task, model), nl=False)
        return
    output_file(path, overwrite=overwrite)
    from manyheads.runs.atomic import write_file

    write_file(path, recipe_template(task, model))
    typer.echo(f"Wrote {path}. Edit it, then: manyheads train {shlex.quote(str(path))}", err=True)
