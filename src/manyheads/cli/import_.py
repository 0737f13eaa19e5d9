"""`manyheads import`: a model of Hugging Face as a run folder: Marian (such as OPUS-MT's) or BERT."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer


def import_(
    folder: Annotated[Path, typer.Argument(help="A folder from Hugging Face, with config.json and model.safetensors.")],
    out: Annotated[Path, typer.Option("--out", help="The run folder to write; it must not exist yet.")],
) -> None:
    """Make a run folder of a model that was trained elsewhere: Marian (such as OPUS-MT's) or BERT."""
    from manyheads.cli.comparing import report_comparison
    from manyheads.exchange.importing import import_model
    from manyheads.runs.folder import RunFolder

    left_out = import_model(folder, out, check=report_comparison)
    if left_out:
        typer.echo(f"Left out, since only the encoder and its own heads are taken: {', '.join(left_out)}.", err=True)
    verb = RunFolder(out).config().verb
    typer.echo(f"The model is in {out}; try: manyheads {verb} --model {shlex.quote(str(out))}", err=True)
    typer.echo(str(out))
