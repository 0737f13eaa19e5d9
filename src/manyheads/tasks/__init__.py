"""Tasks: what is learned, from which batches, and how it is measured. One file for each.

| file | what it is |
|---|---|
| `interface` | what a task offers: `Task`, `Objective`, `Validator` |
| `translation` | one sequence into another |
| `language_model` | a text continued |
| `lane_memory` | what a language model remembers of the text that it learns from |
| `measuring_text` | how well a language model predicts a text |
| `scoring` | the scores of translations |
| `reading` | what the tasks of models that read have in common |
| `masked_words` | hidden words, predicted from both sides |
| `classification` | the label of a text |
| `question_answering` | where an answer is in its context |
| `memory_questions` | questions about facts that a memory holds |
| `teacher_forcing` | the loss of all target tokens at once |
| `loss` | label-smoothed cross-entropy that never holds all logits at once |
| `r_drop` | the loss of two passes under different dropout |
| `starting` | weights to start from |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.classification import ClassificationRecipe
from manyheads.config.tasks.language_model import LanguageModelRecipe
from manyheads.config.tasks.masked_words import MaskedWordsRecipe
from manyheads.config.tasks.memory_questions import MemoryQuestionsRecipe
from manyheads.config.tasks.question_answering import QuestionAnsweringRecipe
from manyheads.config.tasks.translation import TranslationRecipe

if TYPE_CHECKING:
    from manyheads.tasks.interface import Task


def task_for(recipe: RecipeBase) -> type[Task[Any, Any]]:
    """Return the task that a recipe asks for; only what it needs is imported."""
    match recipe:
        case TranslationRecipe():
            from manyheads.tasks.translation import TranslationTask

            return TranslationTask
        case LanguageModelRecipe():
            from manyheads.tasks.language_model import LanguageModelTask

            return LanguageModelTask
        case MaskedWordsRecipe():
            from manyheads.tasks.masked_words import MaskedWordsTask

            return MaskedWordsTask
        case ClassificationRecipe():
            from manyheads.tasks.classification import ClassificationTask

            return ClassificationTask
        case QuestionAnsweringRecipe():
            from manyheads.tasks.question_answering import QuestionAnsweringTask

            return QuestionAnsweringTask
        case MemoryQuestionsRecipe():
            from manyheads.tasks.memory_questions import MemoryQuestionsTask

            return MemoryQuestionsTask
    raise AssertionError(f"no task is known for {recipe.task}")
