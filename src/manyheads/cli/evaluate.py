"""`manyheads evaluate`: how good a run is on given pairs, with sacreBLEU's signature, and against another run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyheads.cli.options import (
    AsJson,
    BatchSentences,
    Beam,
    Device,
    Engine,
    LengthPenalty,
    PairsFormat,
    Precision,
    SourceColumn,
    TargetColumn,
    To,
    length_penalty_options,
)
from manyheads.cli.outputs import Overwrite, output_file

if TYPE_CHECKING:
    from manyheads.config.data import CorpusSettings
    from manyheads.config.schema import Recipe
    from manyheads.decoding.translator import Translator
    from manyheads.metrics.scores import Score


def evaluate(
    run: Annotated[Path, typer.Argument(help="The run folder.", show_default=False)],
    source: Annotated[str | None, typer.Option(help="Source text, one sentence per line (also .gz).")] = None,
    target: Annotated[str | None, typer.Option(help="Reference, parallel to the source.")] = None,
    pairs: Annotated[str | None, typer.Option(help="A TSV or JSONL file with both sides instead.")] = None,
    pairs_format: PairsFormat = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    to: To = None,
    task: Annotated[str | None, typer.Option(help="The unseen test split of a generated task instead.")] = None,
    count: Annotated[int, typer.Option(help="Pairs of the generated task.")] = 1000,
    against: Annotated[Path | None, typer.Option(help="Another run, to compare with by paired bootstrap.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metric; default: the run's own and its companions.")] = None,
    lowercase: Annotated[bool | None, typer.Option(help="Ignore case in BLEU and chrF.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="sacreBLEU's tokenizer: 13a, none, char, zh, intl, ja-mecab or ko-mecab. Default: the recipe's if "
            "it is not 13a, or the one that suits the target's language or script (auto)."
        ),
    ] = None,
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
    from manyheads.data.corpora import open_corpus
    from manyheads.decoding.translator import Translator
    from manyheads.runs.folder import RunFolder

    output_file(save, inputs=(source, target, pairs), overwrite=overwrite)
    folder = RunFolder.open(run)
    if folder.kind == "bert":
        from manyheads.cli.evaluate_bert import evaluate_bert, refuse_searching

        columns = (source_column, target_column)
        translating = (source, target, *columns, to, against, metric, lowercase, tokenizer, beam, length_penalty)
        computed = (None if engine == "auto" else engine, None if precision == "float32" else precision)
        refuse_searching(folder, *translating, *computed)
        found = evaluate_bert(folder, file=pairs, task=task, count=count, device=device)
        _save(save, found.outputs)
        _print(_result(run, len(found.outputs), found.scores), found.scores, as_json=as_json)
        return
    recipe = folder.recipe()
    named_columns = {"format": pairs_format, "source_column": source_column, "target_column": target_column}
    given = {name: column for name, column in named_columns.items() if column is not None}
    named = {"source": source, "target": target, "pairs": pairs, **given}
    rows = list(open_corpus(_corpus(recipe, named, task, count), split="test").pairs())
    scoring = _Scoring(recipe, rows, metric or [], lowercase, tokenizer, to)
    search = {"to": to, "beam": beam, **length_penalty_options(length_penalty), "batch_sentences": batch}
    computing = {"engine": engine, "device": device, "precision": precision}
    translator = Translator(run, **computing)
    outputs = translator.translate(scoring.sources, **search)
    _save(save, outputs)
    scores = scoring.scores(outputs)
    result = {**_result(run, len(rows), scores), "perplexity": scoring.perplexity(translator, to)}
    if against is not None:
        other = Translator(against, **computing).translate(scoring.sources, **search)
        result["against"] = {"run": str(against), "comparisons": scoring.comparisons(other, outputs)}
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


class _Scoring:
    """Sources, right answers and metrics of one evaluation."""

    def __init__(
        self,
        recipe: Recipe,
        rows: list[Any],
        metrics: list[str],
        lowercase: bool | None,
        tokenizer: str | None,
        to: str | None,
    ) -> None:
        from manyheads.metrics.scores import Scale, answers_of, check_metrics, companions

        settings = recipe.validation
        own = settings.metric if settings.metric != "loss" else "bleu"
        self.metrics = check_metrics(metrics) or [own, *companions(own)]
        self.rows = rows
        answers = answers_of(rows, grouped=not {"bleu", "chrf"} & set(self.metrics))
        self.sources = [text for text, _ in answers]
        self.answers = [right for _, right in answers]
        self.scale = Scale(
            settings.lowercase if lowercase is None else lowercase, self._tokenizer(recipe, tokenizer, to)
        )

    def _tokenizer(self, recipe: Recipe, asked: str | None, to: str | None) -> str:
        """Return BLEU's tokenizer: the one asked for, or the recipe's own, or the one that suits the target."""
        from manyheads.metrics.scores import check_tokenizer
        from manyheads.metrics.segmentation import AUTO, bleu_tokenizer, target_language

        own = recipe.validation.bleu_tokenizer
        default = type(recipe.validation).model_fields["bleu_tokenizer"].default
        return bleu_tokenizer(
            check_tokenizer(asked or (AUTO if own == default else own)),
            language=to or target_language(recipe.data),
            references=(right[0] for right in self.answers),
        )

    def scores(self, outputs: list[str]) -> list[Score]:
        """Score outputs by every metric."""
        from manyheads.metrics.scores import measure

        return [measure(metric, outputs, self.answers, self.scale) for metric in self.metrics]

    def perplexity(self, translator: Translator, to: str | None) -> float:
        """Return the model's perplexity per target token, the end token included, on the pairs."""
        from manyheads.metrics.scores import perplexity

        likely = translator.score([row.source for row in self.rows], [row.target for row in self.rows], to=to)
        tokens = sum(len(row) for row in likely)
        return perplexity(-sum(map(sum, likely)) / max(1, tokens))

    def comparisons(self, baseline: list[str], system: list[str]) -> list[dict[str, Any]]:
        """Return BLEU and chrF of two systems with the probability that chance explains the difference."""
        from manyheads.metrics.overlap import compare

        references = [right[0] for right in self.answers]
        found = compare(
            {"baseline": baseline, "system": system},
            references,
            lowercase=self.scale.lowercase,
            tokenizer=self.scale.bleu_tokenizer,
        )
        return [{**asdict(one), "significant": one.significant} for one in found]


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
    for one in result.get("against", {}).get("comparisons", []):
        verdict = "significant" if one["significant"] else "could be chance"
        typer.echo(
            f"{one['metric']:<18}{one['system']:8.2f}  against {one['baseline']:.2f} of {result['against']['run']}: "
            f"p = {one['p_value']:.4f}, {verdict}"
        )
