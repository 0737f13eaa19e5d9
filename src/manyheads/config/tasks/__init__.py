"""The recipes of all tasks, and the content of `config.json` for each.

| file | what it is |
|---|---|
| `translation` | one sequence into another |
| `language_model` | a text continued |
| `reading` | the common part of the tasks of encoder models |
| `masked_words`, `classification`, `question_answering` | these tasks |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from manyheads.config.tasks.classification import ClassificationRecipe
from manyheads.config.tasks.language_model import LanguageModelConfig, LanguageModelRecipe
from manyheads.config.tasks.masked_words import MaskedWordsRecipe
from manyheads.config.tasks.question_answering import QuestionAnsweringRecipe
from manyheads.config.tasks.reading import ReadingConfig
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.errors import ManyheadsError

Recipe = TranslationRecipe | LanguageModelRecipe | MaskedWordsRecipe | ClassificationRecipe | QuestionAnsweringRecipe
"""Everything that determines the result of a run. The key `task` selects the class; the default is translation."""

ModelConfig = TranslationConfig | LanguageModelConfig | ReadingConfig
"""What `config.json` holds; `config_class` returns the class of a file's content."""


def config_class(values: Mapping[str, Any]) -> type[ModelConfig]:
    """Return the class of a `config.json`, by its task. Version 0.1.0 wrote no task for translation."""
    task, model = values.get("task"), values.get("model")
    if task is None:  # an imported encoder has none
        kind = values.get("kind") or (model.get("kind") if isinstance(model, Mapping) else None)
        return ReadingConfig if kind == "bert" else TranslationConfig
    for config in get_args(ModelConfig):
        if task in _tasks_of(config):
            return cast(type[ModelConfig], config)
    raise ManyheadsError(f"'task' = {task!r}: there is no such task.", cure="Use the version that wrote this run.")


def _tasks_of(config: type[ModelConfig]) -> set[str]:
    """Return the tasks that a class is for."""
    annotation = config.model_fields["task"].annotation
    members = get_args(annotation)
    return {name for one in members for name in (get_args(one) or (one,)) if isinstance(name, str)}
