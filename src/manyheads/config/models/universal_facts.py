"""The keys of a Universal Transformer that reads facts under `model`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.universal import DepthSettings
from manyheads.config.values import Positive


class UniversalFactsSettings(DepthSettings):
    """One encoder layer over facts and a question, each of which is one vector, for all depths."""

    memory: Positive = Field(70, description="Facts that the model reads: the most recent ones of a story.")
    words: Positive = Field(
        20, description="Words of a fact that have position weights of their own; later ones share the last."
    )

    @model_validator(mode="after")
    def _memory_has_positions(self) -> Self:
        """Check that learned positions are enough for the facts and the question."""
        if self.longest is not None and self.longest <= self.memory:
            raise ValueError(f"positions.maximum must be above the memory of {self.memory} facts, for the question")
        return self

    @property
    def noise_share(self) -> float:
        """The share of empty memories while training: there are none."""
        return 0.0

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers, which is applied `steps` times."""
        return (1,)

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        stack = self.stack_weights(1, DotProductSettings(), self.positions, attentions=1)
        return stack + (source + self.words + target) * self.width
