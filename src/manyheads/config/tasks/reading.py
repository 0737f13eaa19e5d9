"""The common part of the tasks of encoder models: examples, validation, and what is needed to rebuild a model."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.model_config import ConfigBase
from manyheads.config.models import EncoderModel
from manyheads.config.recipe import RecipeBase, ValidationBase
from manyheads.config.values import Natural, Positive, Seed, Settings

ReadingTaskName = Literal["masked_language_model", "classification", "question_answering"]


class ExamplesSettings(Settings):
    """Where examples come from: a file, or a generated task.

    A path is relative to the current folder, or to the data folder (`MANYHEADS_DATA`, or ./data) if it starts with
    `data:`; .gz is unpacked. What a line holds depends on the recipe's task: data/text/examples.py has the table.
    """

    file: str | None = Field(None, description="A file with one example per line: TSV, JSONL or plain text.")
    task: str | None = Field(None, description="A generated task instead of a file: kinds, listops, whereabouts.")
    count: Positive = Field(2000, description="Number of examples to generate.")
    seed: Seed = Field(1, description="Seed of the generated examples.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the generated task.")

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        """Check that exactly one of the two origins is given."""
        if (self.file is None) == (self.task is None):
            raise ValueError("give exactly one of: file, task")
        return self


class ExampleDataSettings(Settings):
    """The examples of a run."""

    train: ExamplesSettings = Field(description="What the model learns from.")
    valid: ExamplesSettings = Field(description="What its progress is measured on.")
    max_length: Positive = Field(128, description="Longest sequence in tokens; longer ones are truncated.")


class ReadingValidation(ValidationBase):
    """How progress is measured."""

    every: Positive = Field(100, description="Steps between two validations.")
    metric: Literal["auto", "loss", "accuracy", "exact_match", "f1"] = Field(
        "auto", description="What decides which model is best; auto takes the first metric of the task."
    )


class ReadingRecipe(RecipeBase):
    """The base of recipes for encoder models."""

    metrics: ClassVar[tuple[str, ...]]  # of the task, the first of which decides by default

    task: ReadingTaskName
    data: ExampleDataSettings = Field(description="The examples.")
    fresh: bool = Field(
        False, description="Take the shape and the tokenizer of start_from, but draw new weights: to compare."
    )
    vocabulary: Positive = Field(
        4000, le=8000, description="Largest number of pieces of the tokenizer, where it is trained on the data."
    )
    model: EncoderModel | None = Field(None, description="The model's shape, where nothing is started from.")
    validation: ReadingValidation = Field(default_factory=ReadingValidation, description="How progress is measured.")

    @model_validator(mode="before")
    @classmethod
    def _no_masking_elsewhere(cls, values: Any) -> Any:  # noqa: ANN401
        """Version 0.1.0 had the section `masking` in the recipes of all these tasks, where it had no effect."""
        if not isinstance(values, dict) or "masking" in cls.model_fields:
            return values
        return {key: value for key, value in values.items() if key != "masking"}

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        """Check that the model's shape is given once: by start_from or by model."""
        if (self.start_from is None) == (self.model is None):
            raise ValueError("give either start_from or model, which says the shape of a new one")
        if self.fresh and self.start_from is None:
            raise ValueError("fresh needs start_from: a new model is fresh anyway")
        if self.training.r_drop:
            raise ValueError("training.r_drop is for translation")
        return self

    @model_validator(mode="after")
    def _metric_fits(self) -> Self:
        """Check that the metric is one of the task's."""
        metric = self.validation.metric
        if metric != "auto" and metric not in self.metrics:
            raise ValueError(f"validation.metric: {metric} is not for {self.task}; use {', '.join(self.metrics)}")
        return self

    @property
    def longest(self) -> int:
        """The longest sequence, in tokens, that is trained on."""
        return self.data.max_length

    @property
    def metric(self) -> str:
        """The metric that decides which model is best."""
        return self.metrics[0] if self.validation.metric == "auto" else self.validation.metric


class ReadingConfig(ConfigBase):
    """What is needed to rebuild an encoder model: its settings, its vocabulary and its special tokens."""

    task: ReadingTaskName | None = None  # what it was trained for; None for an imported encoder
    labels: tuple[str, ...] = ()  # of classification, in the order of the outputs
    model: EncoderModel
    vocabulary: Positive
    pad: Natural = 0
    unknown: Natural = 100
    first: Natural = 101  # [CLS], which opens every sequence
    separator: Natural = 102  # [SEP], which closes every text
    mask: Natural = 103

    @model_validator(mode="before")
    @classmethod
    def _without_kind(cls, values: Any) -> Any:  # noqa: ANN401
        """Version 0.1.0 wrote the model's kind beside the model."""
        return {key: value for key, value in values.items() if key != "kind"} if isinstance(values, dict) else values

    @property
    def verb(self) -> str:
        """The command that uses such a model."""
        return {"classification": "classify", "question_answering": "answer"}.get(self.task or "", "encode")

    @property
    def special_ids(self) -> dict[str, int]:
        """The ids of special tokens by their keys."""
        names = ("pad", "unknown", "first", "separator", "mask")
        return {name: getattr(self, name) for name in names}

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The number of pieces, which are the same on both sides."""
        return self.vocabulary, self.vocabulary
