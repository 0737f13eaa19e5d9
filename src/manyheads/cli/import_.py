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
    from manyheads.exchange.bert import hugging_face_type

    if hugging_face_type(folder) in ("bert", None):  # without a type it says what is wrong with the folder
        _import_bert(folder, out)
    else:
        _import_marian(folder, out)


def _import_bert(folder: Path, out: Path) -> None:
    """Import a BERT and say what was left out."""
    from manyheads.exchange.bert import import_bert

    found = import_bert(folder, out)
    if found.left_out:
        typer.echo(
            f"Left out, since only the encoder and its own heads are taken: {', '.join(found.left_out)}.", err=True
        )
    typer.echo(f"The model is in {out}; try: manyheads encode --model {shlex.quote(str(out))}", err=True)


def _import_marian(folder: Path, out: Path) -> None:
    """Import a Marian model and compare it with the original."""
    from manyheads.cli.comparing import compare_aloud
    from manyheads.exchange.huggingface import import_huggingface

    import_huggingface(folder, out, check=compare_aloud)
    typer.echo(str(out))
