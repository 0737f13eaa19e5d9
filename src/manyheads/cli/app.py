"""The table of verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from manyheads import __version__
from manyheads.cli import (
    answer,
    classify,
    data,
    describe,
    encode,
    evaluate,
    export,
    import_,
    inspect,
    models,
    recipe,
    score,
    serve,
    shortlist,
    train,
    translate,
    validate,
)

app = typer.Typer(
    name="manyheads",
    help="Train, evaluate and translate with Transformers, and look inside them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)

for verb in (
    train.train,
    translate.translate,
    evaluate.evaluate,
    score.score,
    inspect.inspect,
    encode.encode,
    classify.classify,
    answer.answer,
    serve.serve,
    export.export,
    models.models,
    shortlist.shortlist,
    describe.describe,
    validate.validate,
):
    app.command()(verb)
app.command("import")(import_.import_)
app.add_typer(recipe.app)
app.add_typer(data.app)


def _print_version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        typer.echo(f"manyheads {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Train, evaluate and translate with Transformers, and look inside them."""
