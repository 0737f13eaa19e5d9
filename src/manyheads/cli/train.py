"""`manyheads train`: from a recipe, or from files of pairs alone, to a model. It resumes by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from manyheads.cli import completion
from manyheads.cli.options import Changes, Device, PairsFormat, SourceColumn, TargetColumn
from manyheads.cli.server_afterwards import ENDED, ServerAfterwards
from manyheads.serving.options import variable

if TYPE_CHECKING:
    from manyheads.runs.folder import RunFolder
    from manyheads.studies.forecast import Forecast
    from manyheads.training.progress import Reporter

Recipe = Annotated[
    Path | None,
    typer.Argument(
        help="A recipe, such as recipes/dates.yaml; or a translation memory (.tmx, .xliff, .po) or a folder of these.",
        show_default=False,
    ),
]
Source = Annotated[Path | None, typer.Option(help="Without a recipe: source text, one sentence per line.")]
Target = Annotated[Path | None, typer.Option(help="Without a recipe: target text, parallel to the source.")]
Pairs = Annotated[
    Path | None, typer.Option(help="Without a recipe: both sides in one TSV, CSV or JSONL file, or memory.")
]
ValidSource = Annotated[
    Path | None, typer.Option(help="Validation source; by default, pairs are held out of the data.")
]
ValidTarget = Annotated[Path | None, typer.Option(help="Validation target.")]
ValidPairs = Annotated[Path | None, typer.Option(help="Validation pairs, in the form of --pairs.")]
StartFrom = Annotated[
    Path | None,
    typer.Option(
        help="Without a recipe: a run, or a model of the package, whose weights to start from.",
        autocompletion=completion.models,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        help="With a memory or --start-from: the target's language, if it has several.",
        autocompletion=completion.languages,
    ),
]
ExportableTo = Annotated[
    Literal["ctranslate2", "huggingface"] | None,
    typer.Option(
        help="Without a recipe: the format that the model can be exported to. CTranslate2, the default, can hold all "
        "that is chosen here; Marian's of Hugging Face holds less, and its models learn more slowly."
    ),
]
Reverse = Annotated[
    bool, typer.Option("--reverse", help="Without a recipe: learn the other direction, from the target to the source.")
]
Both = Annotated[
    bool,
    typer.Option(
        "--both", help="Without a recipe: learn both directions in one model; 'translate --to' then chooses one."
    ),
]
SourceLanguage = Annotated[
    str | None,
    typer.Option(help="Language code of the source; by default as the names of files or columns say (train.en)."),
]
TargetLanguage = Annotated[str | None, typer.Option(help="Language code of the target, likewise.")]
Out = Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/NAME")]
MaxMinutes = Annotated[
    float | None,
    typer.Option(
        help="Time for training. Without a recipe, model and steps are chosen so that it ends in this time. With "
        "one, it stops after this time with everything saved, and continues when it is started again."
    ),
]
AcceptChangedData = Annotated[
    bool,
    typer.Option(
        "--accept-changed-data",
        help="Go on although files that the run learned from have changed; the card says so.",
    ),
]
Serve = Annotated[
    bool, typer.Option("--serve", help="When training ends, serve the model and its page, unless Ctrl-C ended it.")
]
Port = Annotated[
    int | None,
    typer.Option(help="With --serve: the port to listen on.", envvar=variable("port"), show_default="5000"),
]
Plan = Annotated[
    Path | None,
    typer.Option(help="A forecast of 'manyheads plan' for the same data; the end says how wrong it was."),
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
    recipe: Recipe = None,
    source: Source = None,
    target: Target = None,
    pairs: Pairs = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    valid_source: ValidSource = None,
    valid_target: ValidTarget = None,
    valid_pairs: ValidPairs = None,
    start_from: StartFrom = None,
    to: To = None,
    exportable: ExportableTo = None,
    reverse: Reverse = False,
    both: Both = False,
    source_language: SourceLanguage = None,
    target_language: TargetLanguage = None,
    out: Out = None,
    max_minutes: MaxMinutes = None,
    finish_in: FinishIn = None,
    device: Device = "auto",
    serve: Serve = False,
    port: Port = None,
    accept_changed_data: AcceptChangedData = False,
    plan: Plan = None,
    changes: Changes = None,
) -> None:
    """Train a model. The same command continues a training that was stopped; Ctrl-C saves."""
    from manyheads.studies.forecast import load_forecast
    from manyheads.training.files import Columns, Files
    from manyheads.training.progress import Reporter
    from manyheads.training.train import train as run_training

    recipe, pairs = _memory_as_pairs(recipe, pairs)
    columns = Columns(pairs_format, source_column, target_column)
    files = Files(
        *(source, target, pairs, columns, valid_source, valid_target, valid_pairs, start_from, to),
        reverse=reverse,
        both=both,
        exportable=exportable,
        source_language=source_language,
        target_language=target_language,
    )
    given = None if recipe is not None and files.are_none else files
    server = ServerAfterwards.prepare(recipe, given, changes or (), port=port) if serve else None
    forecast = None if plan is None else load_forecast(plan)
    reporter = Reporter()
    run = run_training(
        recipe,
        files=given,
        out=out,
        changes=changes or (),
        max_minutes=max_minutes,
        finish_in=finish_in,
        device=device,
        accept_changed_data=accept_changed_data,
        progress=reporter,
    )
    _conclude(run, reporter, forecast, server)


def _memory_as_pairs(recipe: Path | None, pairs: Path | None) -> tuple[Path | None, Path | None]:
    """Return the recipe and the pairs: a translation memory in place of a recipe is pairs."""
    from manyheads.data.formats.memories import are_memories

    if recipe is not None and pairs is None and are_memories(str(recipe)):
        return None, recipe
    return recipe, pairs


def _conclude(run: RunFolder, reporter: Reporter, forecast: Forecast | None, server: ServerAfterwards | None) -> None:
    """Say how wrong a forecast was, and start the server, as far as they are asked for."""
    if forecast is not None and reporter.summary is not None:
        reporter.note(forecast.verdict(run, reporter.summary.score))
    if server is not None and reporter.outcome in ENDED:
        server.start(run)
