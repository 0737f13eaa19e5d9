"""`manyheads import`: a model from elsewhere as a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_(
    folder: Annotated[Path, typer.Argument(help="A folder from Hugging Face: config.json, model.safetensors, …")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")] = ...,  # type: ignore[assignment]
) -> None:
    """Make a run of a model that was trained elsewhere (BERT)."""
    from manyheads.exchange.bert import import_bert

    found = import_bert(folder, out)
    if found.left_out:
        typer.echo(
            f"Left out, since only the encoder and its own heads are taken: {', '.join(found.left_out)}.", err=True
        )
    typer.echo(f"The model is in {out}; try: manyheads encode --model {out}", err=True)
