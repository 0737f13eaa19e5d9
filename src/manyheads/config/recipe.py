"""The common part of all recipes. A recipe is everything that determines the result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from manyheads.config.models.base import ModelSettings
from manyheads.config.training import TrainingSettings
from manyheads.config.values import Name, Natural, Positive, Seed, Settings

ORDER = ("name", "task", "seed", "data", "tokenizer", "vocabulary", "start_from", "fresh", "model", "training")
"""The order in which keys are written; others follow in the order of their class."""


class ValidationBase(Settings):
    """The validation settings that all tasks share."""

    every: Positive = Field(500, description="Steps between two validations.")
    patience: Natural = Field(
        0, description="Validations without a better score before training stops; 0 never stops early."
    )
    samples: Natural = Field(2, description="Sample outputs shown at each validation.")


class RecipeBase(Settings):
    """The base of every recipe. A task adds its data, its models and how they are validated."""

    name: Name = Field("run", description="A name for tables, cards and the run folder, runs/NAME.")
    task: str
    seed: Seed = Field(1, description="Seed of everything random: weights, order of the data, dropout, masks.")
    model: ModelSettings | None
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="How the model learns.")
    validation: ValidationBase
    start_from: str | None = Field(
        None, description="A run folder whose tokenizers and weights this run starts from (fine-tuning)."
    )

    @property
    def metric(self) -> str:
        """The metric that decides which model is best."""
        raise NotImplementedError

    @property
    def longest(self) -> int:
        """The longest sequence, in tokens, that is trained on."""
        raise NotImplementedError


def without_smoothing(values: Any) -> Any:  # noqa: ANN401
    """Return the values of a recipe with label smoothing 0, unless they say otherwise."""
    if not isinstance(values, Mapping) or not isinstance(values.get("training", {}), Mapping):
        return values
    return {**values, "training": {"label_smoothing": 0.0, **values.get("training", {})}}


def in_order(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a recipe in the order in which they are written."""
    return {**{key: fields[key] for key in ORDER if key in fields}, **fields}
