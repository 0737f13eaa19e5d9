"""`manyheads evaluate`: how good a run is on given pairs, with sacreBLEU's signature, and against another run."""

from __future__ import annotations

from dataclasses import asdict
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
    from manyheads.cli.scoring import Scoring
    from manyheads.config.data import CorpusSettings
    from manyheads.config.schema import Recipe
    from manyheads.metrics.scores import Score


Against = Annotated[
    list[Path] | None,
    typer.Option(
        help="Another run, to test the difference for significance; may be repeated.", autocompletion=completion.models
    ),
]
Tokenizer = Annotated[
    str | None,
    typer.Option(
        help="sacreBLEU's tokenizer: 13a, none, char, zh, intl, ja-mecab or ko-mecab. Default: the recipe's if it is "
        "not 13a, or the one that suits the target's language or script (auto)."
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
    against: Against = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric; default: the run's own and its companions.", autocompletion=completion.metrics),
    ] = None,
    lowercase: Annotated[bool | None, typer.Option(help="Ignore case in BLEU and chrF.")] = None,
    tokenizer: Tokenizer = None,
    save: Annotated[Path | None, typer.Option(help="Write the outputs here, one per line.")] = None,
    overwrite: Overwrite = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    batch: BatchSentences = None,
    engine: Engine = "auto",
    precision: Precision = "float32",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Translate the source and score it: BLEU and chrF, exact match or error rates, and perplexity.

    Of a BERT, the labels or answers it gives to the texts in --pairs, or to those of a generated task.
    """
    from manyheads.cli.scoring import Scoring
    from manyheads.data.text.corpora import open_corpus
    from manyheads.runs.folder import RunFolder

    output_file(save, inputs=(source, target, pairs), overwrite=overwrite)
    folder = RunFolder.open(run)
    columns = {"format": pairs_format, "source_column": source_column, "target_column": target_column}
    if folder.kind == "bert":
        from manyheads.cli.evaluate_bert import evaluate_bert, refuse_searching

        translating = (source, target, *columns.values(), to, against, metric, lowercase, tokenizer, beam)
        computed = (None if engine == "auto" else engine, None if precision == "float32" else precision)
        refuse_searching(folder, *translating, length_penalty, *computed)
        found = evaluate_bert(folder, file=pairs, task=task, count=count, device=device)
        _save(save, found.outputs)
        _print(_result(run, len(found.outputs), found.scores), found.scores, as_json=as_json)
        return
    recipe = folder.recipe()
    given = {name: column for name, column in columns.items() if column is not None}
    named = {"source": source, "target": target, "pairs": pairs, **given}
    rows = list(open_corpus(_corpus(recipe, named, task, count), split="test").pairs())
    scoring = Scoring(recipe, rows, metric or [], lowercase, tokenizer, to)
    search = {"to": to, "beam": beam, **length_penalty_options(length_penalty), "batch_sentences": batch}
    computing = {"engine": engine, "device": device, "precision": precision}
    _evaluate(scoring, [run, *(against or [])], search, computing, save=save, as_json=as_json)


def _evaluate(
    scoring: Scoring,
    runs: list[Path],
    search: dict[str, Any],
    computing: dict[str, str],
    *,
    save: Path | None,
    as_json: bool,
) -> None:
    """Evaluate the first of the runs, and compare the others with it, if there are any."""
    from manyheads.cli.scoring import over_seeds
    from manyheads.decoding.translator import Translator
    from manyheads.runs.folder import RunFolder

    run, *others = runs
    recipes = [RunFolder.open(one).recipe() for one in runs]  # a mistake in a name is told before the work begins
    translator = Translator(run, **computing)
    outputs = translator.translate(scoring.sources, **search)
    _save(save, outputs)
    scores = scoring.scores(outputs)
    perplexity = scoring.perplexity(translator, search["to"])
    result = {**_result(run, len(scoring.rows), scores), "perplexity": perplexity}
    if others:
        theirs = [Translator(other, **computing).translate(scoring.sources, **search) for other in others]
        comparisons = scoring.comparisons(runs, [outputs, *theirs])
        seeds = over_seeds(recipes, comparisons)
        result |= {"against": list(map(str, others)), "comparisons": comparisons, "over_seeds": seeds}
    _print(result, scores, as_json=as_json)


def _corpus(recipe: Recipe, values: dict[str, Any], task: str | None, count: int) -> CorpusSettings:
    """Return the test corpus that was asked for; a run on a generated task needs no naming of it."""
    from manyheads.config.data import CorpusSettings
    from manyheads.config.messages import build

    trained_on = recipe.data.corpora[0]
    if not any(values[name] for name in ("source", "target", "pairs")) and (task or trained_on.task):
        own = task in (None, trained_on.task)
        options = trained_on.options if own else {}
        values = {**values, "task": task or trained_on.task, "count": count, "seed": 0, "options": options}
    return build(CorpusSettings, values, origin="the test data")


def _save(file: Path | None, outputs: list[str]) -> None:
    """Write the outputs, if that was asked for."""
    if file is not None:
        from manyheads.runs.atomic import write_file

        write_file(file, "".join(f"{line}\n" for line in outputs))


def _result(run: Path, pairs: int, scores: list[Score]) -> dict[str, Any]:
    """Return what every evaluation tells."""
    return {"run": str(run), "pairs": pairs, "scores": [asdict(score) for score in scores]}


def _print(result: dict[str, Any], scores: list[Score], *, as_json: bool) -> None:
    """Print scores with signatures, or everything as JSON."""
    if as_json:
        import json

        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    for score in scores:
        signature = f"  {score.signature}" if score.signature else ""
        typer.echo(f"{score.name:<18}{score.value:8.2f}{signature}")
    if "perplexity" in result:
        typer.echo(f"{'perplexity':<18}{result['perplexity']:8.2f}")
    if "comparisons" in result:
        from manyheads.cli.scoring import print_comparisons

        print_comparisons(result)
