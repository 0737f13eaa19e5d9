"""Evaluation as a function: how good a run is on test data, and against other runs.

evaluate("runs/copy").scores
print(evaluate("runs/dates", source="test.src", target="test.trg", against=["runs/other"]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.evaluation.comparison import compare_runs, over_seeds
from manyheads.metrics.scores import Score
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.tasks.interface import EvaluationOptions, Measurement, TestData
from manyheads.tasks.translation import TranslationTask


@dataclass(frozen=True)
class Evaluation:
    """The scores of a run on test data, its outputs, and comparisons with other runs where they were asked for."""

    run: str
    examples: int
    scores: list[Score]
    outputs: list[str]
    perplexity: float | None = None
    against: tuple[str, ...] = ()
    comparisons: tuple[dict[str, Any], ...] = ()
    over_seeds: dict[str, Any] | None = None

    def __getitem__(self, metric: str) -> float:
        """Return the value of a metric, such as `evaluation["bleu"]`."""
        return {one.name: one.value for one in self.scores}[metric]

    def __str__(self) -> str:
        rows = [(one.name, one.value, f"  {one.signature}" if one.signature else "") for one in self.scores]
        if self.perplexity is not None:
            rows.append(("perplexity", self.perplexity, ""))
        return "\n".join(f"{name:<18}{value:8.2f}{signature}" for name, value, signature in rows)

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it, without the outputs."""
        found: dict[str, Any] = {
            "run": self.run,
            "pairs": self.examples,
            "scores": [asdict(score) for score in self.scores],
        }
        if self.perplexity is not None:
            found["perplexity"] = self.perplexity
        if self.against:
            found |= {
                "against": list(self.against),
                "comparisons": list(self.comparisons),
                "over_seeds": self.over_seeds,
            }
        return found


def evaluate(
    run: RunFolder | Path | str,
    *,
    source: str | None = None,
    target: str | None = None,
    pairs: str | None = None,
    columns: Mapping[str, Any] | None = None,
    task: str | None = None,
    count: int = 1000,
    against: Sequence[Path | str] = (),
    metrics: Sequence[str] = (),
    lowercase: bool | None = None,
    tokenizer: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    device: str = "auto",
    **search: Any,  # noqa: ANN401 (those of `Translator.translate`)
) -> Evaluation:
    """Return the scores of a run on test data.

    Args:
        run: A run folder, its path, or the name of a model that comes with the package.
        source: Source text, one sentence per line.
        target: Its reference, line by line.
        pairs: A file with both sides, or with labelled examples, instead.
        columns: Where each side is in `pairs`: `source_column`, `target_column` and `format`.
        task: A generated task instead of files. By default, the task that the run was trained on.
        count: The number of examples to generate.
        against: Other runs to compare with.
        metrics: Metrics; by default the run's own.
        lowercase: Whether to ignore case in BLEU and chrF.
        tokenizer: sacreBLEU's tokenizer.
        engine: `torch` or `ctranslate2`; by default the faster one that can do it.
        precision: `float32`, `int16` or `int8`.
        device: Where to compute.
        search: What `Translator.translate` takes, such as `beam` or `to`.
    """
    folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
    name = str(run.path if isinstance(run, RunFolder) else run)
    data = TestData(source, target, pairs, columns or {}, task, count)
    computing = {key: value for key, value in (("engine", engine), ("precision", precision)) if value is not None}
    options = EvaluationOptions(metrics, lowercase, tokenizer, search, computing, device)
    recipe = _recipe(folder)
    others = [RunFolder.open(one) for one in against]
    if others and not isinstance(recipe, TranslationRecipe):
        options = EvaluationOptions(("comparison",))  # which is refused below like any other option
    measured = task_for(recipe).measure(folder, data, options)
    if not others:
        return _evaluation(name, measured)
    recipes = [one.recipe_for(TranslationRecipe) for one in (folder, *others)]
    scoring = TranslationTask.scoring(folder, data, options)
    names = [name, *map(str, against)]
    comparisons = compare_runs(names, measured.outputs, others, scoring, options)
    return _evaluation(
        name,
        measured,
        against=tuple(names[1:]),
        comparisons=tuple(comparisons),
        over_seeds=over_seeds(recipes, comparisons),
    )


def _recipe(run: RunFolder) -> Any:  # noqa: ANN401 (of any task)
    """Return a run's recipe; an imported encoder has none, and nothing to measure."""
    if run.config().task is None:
        raise ManyheadsError(
            "this model was not trained for a task, so there is nothing to measure.",
            where=str(run.path),
            cure="Fine-tune it with a recipe that has task: classification or question_answering, and start_from.",
        )
    return run.recipe()


def _evaluation(name: str, measured: Measurement, **comparison: Any) -> Evaluation:  # noqa: ANN401
    """Return a measurement as an evaluation."""
    return Evaluation(name, measured.examples, measured.scores, measured.outputs, measured.perplexity, **comparison)
