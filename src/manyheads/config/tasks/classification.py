"""The recipe of a classification task."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from manyheads.config.tasks.reading import ReadingRecipe


class ClassificationRecipe(ReadingRecipe):
    """The label of a text or of a pair."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")

    task: Literal["classification"] = Field(
        "classification", description="What is learned: the label of a text or of a pair."
    )
