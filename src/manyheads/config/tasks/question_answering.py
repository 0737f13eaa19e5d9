"""The recipe of a task whose answers are words of a context."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from manyheads.config.tasks.reading import ReadingRecipe


class QuestionAnsweringRecipe(ReadingRecipe):
    """Where the answer to a question is in its context."""

    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "f1", "loss")

    task: Literal["question_answering"] = Field(
        "question_answering", description="What is learned: where the answer to a question is in its context."
    )
