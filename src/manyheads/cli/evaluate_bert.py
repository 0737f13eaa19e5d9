"""What `manyheads evaluate` does with a BERT: labels and answers against the right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from manyheads.config.bert import BertRecipe, ExamplesSettings
    from manyheads.metrics.scores import Score
    from manyheads.runs.folder import RunFolder


class BertFindings(NamedTuple):
    """What a BERT said of each example, and the scores of that."""

    outputs: list[str]
    scores: list[Score]


def evaluate_bert(run: RunFolder, *, file: str | None, task: str | None, count: int, device: str) -> BertFindings:
    """Ask a BERT for the labels or answers of test examples, and score them."""
    from manyheads.data.text.examples import read_examples
    from manyheads.encoding.bert import Bert
    from manyheads.encoding.measuring import outputs_of, scores_of

    recipe = _recipe(run)
    examples = read_examples(_settings(recipe, file, task, count), recipe.task, split="test")
    bert = Bert.from_folder(run.path, device=device)
    outputs = outputs_of(bert, recipe.task, examples, longest=recipe.data.max_length)
    return BertFindings(outputs, scores_of(recipe.task, outputs, [one.answer for one in examples]))


def refuse_searching(run: RunFolder, *options: object) -> None:
    """Refuse what only a search for outputs can be told."""
    if any(option is not None for option in options):
        raise ManyheadsError(
            "this run is a BERT, which is measured on --pairs or a --task, and has nothing to search or compare.",
            where=str(run.path),
            cure="Leave the other options out.",
        )


def _recipe(run: RunFolder) -> BertRecipe:
    """Return the recipe of a BERT that gives labels or answers; refuse another."""
    from manyheads.config.bert import BertRecipe
    from manyheads.config.recipe import load_any_recipe

    if run.bert_config().task in ("classification", "question_answering"):
        recipe = load_any_recipe(run.recipe_file)
        assert isinstance(recipe, BertRecipe)
        return recipe
    raise ManyheadsError(
        "this BERT gives neither labels nor answers, so there is nothing to measure.",
        where=str(run.path),
        cure="Fine-tune it with a recipe that has task: classification or question_answering, and start_from.",
    )


def _settings(recipe: BertRecipe, file: str | None, task: str | None, count: int) -> ExamplesSettings:
    """Return the test examples that were asked for; a run on a generated task needs no naming of it."""
    from manyheads.config.bert import ExamplesSettings
    from manyheads.config.messages import build

    trained_on = recipe.data.train
    values: dict[str, Any] = {"file": file, "task": task}
    if file is None and (name := task or trained_on.task):
        options = trained_on.options if name == trained_on.task else {}
        values = {"task": name, "count": count, "seed": 0, "options": options}
    if not any(values.values()):
        raise ManyheadsError("it was not said what to measure the run on.", cure="Name a file with --pairs.")
    return build(ExamplesSettings, values, origin="the test data")
