"""`manyheads import`: a Marian model of Hugging Face, such as OPUS-MT's, as a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_(
    folder: Annotated[Path, typer.Argument(help="A folder with config.json, model.safetensors and source.spm.")],
    out: Annotated[Path, typer.Option("--out", help="The run folder to write; it must not exist yet.")],
) -> None:
    """Make a run folder of a Marian model in Hugging Face's format, such as OPUS-MT's."""
    from manyheads.cli.comparing import compare_aloud
    from manyheads.exchange.huggingface import import_huggingface

    import_huggingface(folder, out, check=compare_aloud)
    typer.echo(str(out))
