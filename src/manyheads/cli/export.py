"""`manyheads export`: a run's model in the format of another toolkit."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """Where a model can go."""

    HUGGINGFACE = "huggingface"
    CTRANSLATE2 = "ctranslate2"


def export(
    run: Annotated[Path, typer.Argument(help="The run folder.", show_default=False)],
    to: Annotated[Format, typer.Option("--to", help="The format to write.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; it must not exist yet.")],
) -> None:
    """Write a run's model for Hugging Face (as a Marian model) or for CTranslate2."""
    from manyheads.runs.folder import RunFolder

    opened = RunFolder.open(run)
    from manyheads.cli.comparing import compare_aloud
    from manyheads.exchange.huggingface import export_huggingface

    export_huggingface(opened, out, check=compare_aloud)
    typer.echo(str(out))
