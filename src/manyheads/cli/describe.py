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
    """Say how large a model is, what training it costs, and how long that takes."""
    from manyheads.training.describe import describe as describe_model

    description = describe_model(what, changes=changes or ())
    if as_json:
        import json

        typer.echo(json.dumps(description.to_json(), ensure_ascii=False, indent=2))
        return
    typer.echo(str(description))
    if description.is_chosen:
        typer.echo(f"{what} has data alone: tokenizer, model and training are chosen for it.", err=True)
