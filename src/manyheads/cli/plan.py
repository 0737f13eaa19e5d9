"""`manyheads plan`: what a training on two files would reach on this machine, before it is begun."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli.options import AsJson, Device, PairsFormat, SourceColumn, TargetColumn
from manyheads.cli.outputs import Overwrite, output_file


def plan(
    source: Annotated[Path | None, typer.Option(help="Source text, one sentence per line.")] = None,
    target: Annotated[Path | None, typer.Option(help="Target text, parallel to the source.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Both sides in one TSV, CSV or JSONL file, or memory.")] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    source_language: Annotated[str | None, typer.Option(help="Language code of the source.")] = None,
    target_language: Annotated[str | None, typer.Option(help="Language code of the target.")] = None,
    minutes: Annotated[float, typer.Option(min=0.1, help="Time for tiny trainings.")] = 10.0,
    out: Annotated[
        Path | None, typer.Option(help="File for the forecast, which 'train --plan' compares with what came true.")
    ] = None,
    overwrite: Overwrite = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Forecast what 'train' would reach on this machine after 1, 3 and 10 hours, from tiny trainings.

    It also says what more pairs would be worth, and which size of model is enough for the data.
    """
    from manyheads.studies.plan import plan as forecast_for
    from manyheads.training.files import Columns, Files

    output_file(out, inputs=[source, target, pairs], overwrite=overwrite)
    columns = Columns(pairs_format, source_column, target_column)
    files = Files(*(source, target, pairs, columns), source_language=source_language, target_language=target_language)
    forecast = forecast_for(files, minutes=minutes, out=out, device=device, tell=_tell)
    if as_json:
        typer.echo(forecast.model_dump_json(indent=2))
        return
    typer.echo(str(forecast), nl=False)
    if out is not None:
        given = {"--source": source, "--target": target, "--pairs": pairs}
        words = [str(word) for option, path in given.items() if path is not None for word in (option, path)]
        command = ["manyheads", "train", *words, "--max-minutes", "60", "--plan", str(out)]
        typer.echo(f"\nTo train, and hear how wrong this was: {shlex.join(command)}")


def _tell(line: str) -> None:
    """Show a line of progress, on a terminal only."""
    if sys.stderr.isatty():
        typer.echo(line, err=True)
