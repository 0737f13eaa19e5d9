"""`manyheads train`: from a recipe, or from files of pairs alone, to a model. It resumes by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyheads.cli import completion
from manyheads.cli.options import Changes, Device, PairsFormat, SourceColumn, TargetColumn

StartFrom = Annotated[
    Path | None,
    typer.Option(
        help="Without a recipe: a run, or a model of the package, whose weights to start from.",
        autocompletion=completion.models,
    ),
]
TargetLanguage = Annotated[
    str | None,
    typer.Option(
        help="With --start-from: the target's language, if it has several.", autocompletion=completion.languages
    ),
]
FinishIn = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="End a run with the schedule warmup_constant_decay in this time, such as 2h: its last steps and the "
        "decay of the rate are fixed now, and written into its recipe.",
    ),
]


def train(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe, such as recipes/dates.yaml.", show_default=False)
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Without a recipe: source text, one sentence per line.")] = None,
    target: Annotated[Path | None, typer.Option(help="Without a recipe: target text, parallel to the source.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Without a recipe: both sides in one TSV, CSV or JSONL file.")
    ] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    valid_source: Annotated[
        Path | None, typer.Option(help="Validation source; by default, pairs are held out of the data.")
    ] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Validation target.")] = None,
    valid_pairs: Annotated[Path | None, typer.Option(help="Validation pairs, in the form of --pairs.")] = None,
    start_from: StartFrom = None,
    to: TargetLanguage = None,
    out: Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/NAME")] = None,
    max_minutes: Annotated[
        float | None, typer.Option(help="Stop after this many minutes, with everything saved.")
    ] = None,
    finish_in: FinishIn = None,
    device: Device = "auto",
    changes: Changes = None,
) -> None:
    """Train a model. The same command continues a training that was stopped; Ctrl-C saves."""
    from manyheads.training.files import Columns, Files
    from manyheads.training.train import train as run_training

    columns = Columns(pairs_format, source_column, target_column)
    files = Files(source, target, pairs, columns, valid_source, valid_target, valid_pairs, start_from, to)
    run_training(
        recipe,
        files=None if recipe is not None and files.are_none else files,
        out=out,
        changes=changes or (),
        max_minutes=max_minutes,
        finish_in=finish_in,
        device=device,
        progress=True,
    )
