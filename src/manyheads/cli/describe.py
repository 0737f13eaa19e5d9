"""`manyheads describe`: a model's parameters, FLOPs, memory and expected time, before anything is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.options import AsJson, Changes


def describe(
    what: Annotated[Path, typer.Argument(help="A recipe or a run folder.", show_default=False)],
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Show the size of a model, and the cost and time of training it."""
    from manyheads.training.describe import describe as describe_model

    description = describe_model(what, changes=changes or ())
    if as_json:
        import json

        typer.echo(json.dumps(description.to_json(), ensure_ascii=False, indent=2))
        return
    typer.echo(str(description))
    if description.is_chosen:
        typer.echo(f"{what} has only data: tokenizer, model and training are chosen automatically.", err=True)
