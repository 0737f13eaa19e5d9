"""`manyheads export`: a run's model in the format of another toolkit."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.errors import ManyheadsError


class Format(StrEnum):
    """The formats of an export."""

    HUGGINGFACE = "huggingface"
    CTRANSLATE2 = "ctranslate2"


class Quantization(StrEnum):
    """How CTranslate2's matrices are stored."""

    FLOAT32 = "float32"
    INT8 = "int8"


def export(
    *,
    run: Annotated[
        Path | None,
        typer.Argument(
            help="A run folder, or a model that comes with the package.",
            show_default=False,
            autocompletion=completion.models,
        ),
    ] = None,
    to: Annotated[Format, typer.Option("--to", help="The format to write.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; it must not exist yet.")],
    quantization: Annotated[
        Quantization, typer.Option(help="For ctranslate2: how matrices are stored; int8 is a quarter of the size.")
    ] = Quantization.FLOAT32,
) -> None:
    """Write a run's model for Hugging Face (as a Marian model) or for CTranslate2."""
    from manyheads.runs.folder import RunFolder

    opened = RunFolder.open(run)
    if to is Format.HUGGINGFACE:
        from manyheads.cli.comparing import report_comparison
        from manyheads.exchange.huggingface import export_huggingface

        if quantization is not Quantization.FLOAT32:
            raise ManyheadsError("only ctranslate2 takes a quantization.", where="--quantization", cure="Leave it out.")
        export_huggingface(opened, out, check=report_comparison)
    else:
        from manyheads.exchange.ctranslate2 import export_ctranslate2

        export_ctranslate2(opened, out, quantization=quantization.value)
    from manyheads.config.tasks.translation import TranslationRecipe
    from manyheads.exchange.tags import tags_note

    if note := tags_note(opened.recipe_for(TranslationRecipe)):
        typer.echo(note, err=True)
    typer.echo(str(out))
