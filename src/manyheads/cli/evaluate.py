"""`manyheads evaluate`: how good a run is on given pairs, with sacreBLEU's signature, and against another run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyheads.cli import completion
from manyheads.cli.options import (
    AsJson,
    BatchSentences,
    Beam,
    Device,
    Engine,
    LengthPenalty,
    PairsFormat,
    Precision,
    Run,
    SourceColumn,
    TargetColumn,
    To,
    length_penalty_options,
)
from manyheads.cli.outputs import Overwrite, output_file

if TYPE_CHECKING:
    from manyheads.evaluation.result import Evaluation


Against = Annotated[
    list[Path] | None,
    typer.Option(
        help="Another run, to test the difference for significance; may be repeated.", autocompletion=completion.models
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(help="Metric; default: the run's own and related ones.", autocompletion=completion.metrics),
]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change an option of the generated task, such as max_length=100; may be repeated.",
    ),
]
Tokenizer = Annotated[
    str | None,
    typer.Option(
        help="sacreBLEU's tokenizer: 13a, none, char, zh, intl, ja-mecab or ko-mecab. Default: the recipe's if it is "
        "not 13a, or the one that suits the target's language or script (auto)."
    ),
]
Stride = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Of a language model: tokens from the beginning of one piece of the text to the next; 1 gives every token "
        "the full context. Default: half of data.length.",
    ),
]
RememberedPositions = Annotated[
    int | None,
    typer.Option(
        min=1, help="Of a language model with a memory: positions that it remembers. Default: as in training."
    ),
]


def evaluate(
    run: Run,
    source: Annotated[str | None, typer.Option(help="Source text, one sentence per line (also .gz).")] = None,
    target: Annotated[str | None, typer.Option(help="Reference, parallel to the source.")] = None,
    pairs: Annotated[str | None, typer.Option(help="A TSV or JSONL file with both sides instead.")] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    to: To = None,
    task: Annotated[str | None, typer.Option(help="The unseen test split of a generated task instead.")] = None,
    count: Annotated[int, typer.Option(help="Pairs of the generated task.")] = 1000,
    options: TaskOptions = None,
    against: Against = None,
    metric: Metrics = None,
    lowercase: Annotated[bool | None, typer.Option(help="Ignore case in BLEU, chrF, chrF++ and TER.")] = None,
    tokenizer: Tokenizer = None,
    save: Annotated[Path | None, typer.Option(help="Write the outputs here, one per line.")] = None,
    overwrite: Overwrite = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    batch: BatchSentences = None,
    engine: Engine = "auto",
    precision: Precision = "float32",
    stride: Stride = None,
    memory: RememberedPositions = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Translate the source and score it: BLEU and chrF, exact match or error rates, and perplexity.

    A run for another task is measured on the examples in --pairs, or on those of a generated task.
    """
    from manyheads.evaluation.evaluate import evaluate as run_evaluation

    output_file(save, inputs=(source, target, pairs), overwrite=overwrite)
    columns = {"format": pairs_format, "source_column": source_column, "target_column": target_column}
    search = {"to": to, "beam": beam, **length_penalty_options(length_penalty), "batch_sentences": batch}
    found = run_evaluation(
        run,
        source=source,
        target=target,
        pairs=pairs,
        columns={name: column for name, column in columns.items() if column is not None},
        task=task,
        count=count,
        options=_options(options or ()),
        against=against or (),
        metrics=metric or (),
        lowercase=lowercase,
        tokenizer=tokenizer,
        engine=None if engine == "auto" else engine,
        precision=None if precision == "float32" else precision,
        device=device,
        stride=stride,
        memory=memory,
        **{name: value for name, value in search.items() if value is not None},
    )
    _save(save, found.outputs)
    _print(found, as_json=as_json)


def _options(changes: Iterable[str]) -> dict[str, Any]:
    """Return the options of a generated task."""
    from manyheads.config.reading import merged, parse_change

    options: dict[str, Any] = {}
    for change in changes:
        options = merged(options, parse_change(change))
    return options


def _save(file: Path | None, outputs: list[str]) -> None:
    """Write the outputs, if that was asked for."""
    if file is not None:
        from manyheads.runs.atomic import write_file

        write_file(file, "".join(f"{line}\n" for line in outputs))


def _print(found: Evaluation, *, as_json: bool) -> None:
    """Print scores with signatures, or everything as JSON."""
    if as_json:
        import json

        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
        return
    typer.echo(str(found))
