"""What `manyheads evaluate` does with a BERT: labels and answers against the right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from manyheads.config.bert import BertRecipe, BertTask, ExamplesSettings
    from manyheads.data.example import Example
    from manyheads.metrics.scores import Score
    from manyheads.runs.folder import RunFolder


class BertEvaluation:
    """The examples of one evaluation, what the model says of them, and the scores of that."""

    def __init__(self, run: RunFolder, *, file: str | None, task: str | None, count: int, device: str) -> None:
        from manyheads.data.examples import read_examples
        from manyheads.encoding.bert import Bert
        from manyheads.encoding.measuring import outputs_of

        recipe = _recipe(run)
        self._task: BertTask = recipe.task
        self.examples: list[Example] = read_examples(_settings(recipe, file, task, count), recipe.task, split="test")
        bert = Bert.from_folder(run.path, device=device)
        self.outputs = outputs_of(bert, recipe.task, self.examples, longest=recipe.data.max_length)

    def scores(self) -> list[Score]:
        """Return the scores that go with what the model learned."""
        from manyheads.encoding.measuring import scores_of

        return scores_of(self._task, self.outputs, [one.answer for one in self.examples])


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
