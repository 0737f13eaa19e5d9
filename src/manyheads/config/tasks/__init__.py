"""The recipes of all tasks, and the content of `config.json` for each.

| file | what it is |
|---|---|
| `translation` | one sequence into another |
| `language_model` | a text continued |
| `reading` | the common part of the tasks of encoder models |
| `memory_questions` | questions about facts that a memory holds |
| `masked_words`, `classification`, `question_answering` | these tasks |

The settings of a task are imported when they are needed: building those of all tasks would double the time that
`manyheads translate` takes to read a recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from manyheads.errors import ManyheadsError

if TYPE_CHECKING:
    from manyheads.config.tasks.classification import ClassificationRecipe
    from manyheads.config.tasks.language_model import LanguageModelConfig, LanguageModelRecipe
    from manyheads.config.tasks.masked_words import MaskedWordsRecipe
    from manyheads.config.tasks.memory_questions import MemoryQuestionsConfig, MemoryQuestionsRecipe
    from manyheads.config.tasks.question_answering import QuestionAnsweringRecipe
    from manyheads.config.tasks.reading import ReadingConfig
    from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe

    Recipe = (
        TranslationRecipe
        | LanguageModelRecipe
        | MaskedWordsRecipe
        | ClassificationRecipe
        | QuestionAnsweringRecipe
        | MemoryQuestionsRecipe
    )
    """Everything that determines the result of a run. The key `task` selects the class; the default is translation."""

    ModelConfig = TranslationConfig | LanguageModelConfig | ReadingConfig | MemoryQuestionsConfig
    """What `config.json` holds; `config_class` returns the class of a file's content."""

TaskName = Literal[
    "translation",
    "language_model",
    "masked_language_model",
    "classification",
    "question_answering",
    "memory_questions",
]
TASKS: tuple[TaskName, ...] = get_args(TaskName)


def recipe_class(task: TaskName) -> type[Recipe]:
    """Return the class of a task's recipes."""
    match task:
        case "translation":
            from manyheads.config.tasks.translation import TranslationRecipe

            return TranslationRecipe
        case "language_model":
            from manyheads.config.tasks.language_model import LanguageModelRecipe

            return LanguageModelRecipe
        case "masked_language_model":
            from manyheads.config.tasks.masked_words import MaskedWordsRecipe

            return MaskedWordsRecipe
        case "classification":
            from manyheads.config.tasks.classification import ClassificationRecipe

            return ClassificationRecipe
        case "question_answering":
            from manyheads.config.tasks.question_answering import QuestionAnsweringRecipe

            return QuestionAnsweringRecipe
        case "memory_questions":
            from manyheads.config.tasks.memory_questions import MemoryQuestionsRecipe

            return MemoryQuestionsRecipe


def config_class(values: Mapping[str, Any]) -> type[ModelConfig]:
    """Return the class of a `config.json`, by its task. Version 0.1.0 wrote no task for translation."""
    task, model = values.get("task"), values.get("model")
    if task is None:  # an imported encoder has none
        kind = values.get("kind") or (model.get("kind") if isinstance(model, Mapping) else None)
        task = "masked_language_model" if kind == "bert" else "translation"
    match task:
        case "translation":
            from manyheads.config.tasks.translation import TranslationConfig

            return TranslationConfig
        case "language_model":
            from manyheads.config.tasks.language_model import LanguageModelConfig

            return LanguageModelConfig
        case "masked_language_model" | "classification" | "question_answering":
            from manyheads.config.tasks.reading import ReadingConfig

            return ReadingConfig
        case "memory_questions":
            from manyheads.config.tasks.memory_questions import MemoryQuestionsConfig

            return MemoryQuestionsConfig
    raise ManyheadsError(f"'task' = {task!r}: there is no such task.", cure="Use the version that wrote this run.")
