"""Evaluation as a function: how good a run is on test data, and against other runs.

evaluate("runs/copy")["exact_match"]
print(evaluate("runs/dates", source="test.src", target="test.trg", against=["runs/other"]))
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyheads.config.tasks.language_model import LanguageModelRecipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.errors import ManyheadsError
from manyheads.evaluation.comparison import compare_runs, over_seeds
from manyheads.evaluation.result import Evaluation
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.tasks.interface import EvaluationOptions, TestData
from manyheads.tasks.scoring import Scoring
from manyheads.tasks.translation import TranslationTask

if TYPE_CHECKING:
    from manyheads.config.tasks import Recipe


def evaluate(
    run: os.PathLike[str] | str,
    *,
    source: Path | str | None = None,
    target: Path | str | None = None,
    pairs: Path | str | None = None,
    columns: Mapping[str, Any] | None = None,
    task: str | None = None,
    count: int = 1000,
    options: Mapping[str, Any] | None = None,
    against: Sequence[os.PathLike[str] | str] = (),
    metrics: Sequence[str] = (),
    lowercase: bool | None = None,
    tokenizer: str | None = None,
    engine: str | None = None,
    precision: str | None = None,
    device: str = "auto",
    stride: int | None = None,
    memory: int | None = None,
    **search: Any,  # noqa: ANN401 (options of `Translator.translate`)
) -> Evaluation:
    """Return the scores of a run on test data.

    Args:
        run: A run folder, its path, or the name of a model that comes with the package.
        source: A file with source texts, one per line.
        target: A file with their references, line by line.
        pairs: A file with both sides, or with labelled examples, in place of `source` and `target`.
        columns: Where each side is in `pairs`: `source_column`, `target_column` and `format`.
        task: A generated task in place of files. By default, the task that the run was trained on.
        count: The number of examples to generate.
        options: Options of the generated task that differ from those of training, such as `max_length`.
        against: Other runs to compare with, on the same data.
        metrics: Names of metrics, such as `bleu`. By default, those of the run.
        lowercase: Whether to ignore case in BLEU and chrF. By default, as in the run's recipe.
        tokenizer: The tokenizer of sacreBLEU. By default, the one that suits the target language.
        engine: `torch` or `ctranslate2`. By default, the faster one that supports the run.
        precision: `float32` (the default), `int16` or `int8`.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.
        stride: Of a language model: the number of tokens after which it reads the next piece of the text. With 1, every
            token has the full context.
        memory: Of a language model with a memory: the number of positions that it remembers. By default, as trained.
        search: Options of `Translator.translate`, such as `beam` or `to`.

    Raises:
        ManyheadsError: If the run or the data cannot be read, or the options do not fit the run's task.
    """
    folder = RunFolder.open(run)
    recipe = _recipe(folder)
    _check_task(recipe, folder, compares=bool(against), reads_text=stride is not None or memory is not None)
    data = TestData(_text(source), _text(target), _text(pairs), columns or {}, task, count, options or {})
    computing = {key: value for key, value in (("engine", engine), ("precision", precision)) if value is not None}
    how = EvaluationOptions(metrics, lowercase, tokenizer, search, computing, device, stride, memory)
    others = [RunFolder.open(other) for other in against]
    found = task_for(recipe).measure(folder, data, how)
    result = Evaluation(os.fspath(run), found.examples, found.scores, found.outputs, found.perplexity)
    if not against:
        return result
    names = tuple(os.fspath(other) for other in against)
    return _compared(result, [folder, *others], names, TranslationTask.scoring(folder, data, how), how)


def _check_task(recipe: Recipe, run: RunFolder, *, compares: bool, reads_text: bool) -> None:
    """Raise an error if something is asked for that is not for the run's task."""
    if compares and not isinstance(recipe, TranslationRecipe):
        raise ManyheadsError(
            "only runs that translate can be compared.", where=str(run.path), cure="Evaluate each run alone."
        )
    if reads_text and not isinstance(recipe, LanguageModelRecipe):
        raise ManyheadsError(
            "a stride and a memory are for language models.", where=str(run.path), cure="Leave them out."
        )


def _compared(
    result: Evaluation,
    runs: Sequence[RunFolder],
    against: tuple[str, ...],
    scoring: Scoring,
    options: EvaluationOptions,
) -> Evaluation:
    """Return the result of the first run with its comparisons with the others."""
    recipes = [run.recipe_for(TranslationRecipe) for run in runs]
    comparisons = compare_runs([result.run, *against], result.outputs, runs[1:], scoring, options)
    return replace(result, against=against, comparisons=tuple(comparisons), over_seeds=over_seeds(recipes, comparisons))


def _text(path: Path | str | None) -> str | None:
    """Return a path as text, which may begin with `data:`."""
    return None if path is None else str(path)


def _recipe(run: RunFolder) -> Recipe:
    """Return a run's recipe; an imported encoder has none, and nothing to measure."""
    if run.config().task is None:
        raise ManyheadsError(
            "this model was not trained for a task, so there is nothing to measure.",
            where=str(run.path),
            cure="Fine-tune it with a recipe that has task: classification or question_answering, and start_from.",
        )
    return run.recipe()
