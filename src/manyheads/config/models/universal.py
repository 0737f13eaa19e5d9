"""The keys of a Universal Transformer under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.base import Distances, heads_divide_width, tied_rows
from manyheads.config.models.layers import LayerSettings
from manyheads.config.models.positions import PositionSettings, SinusoidalSettings
from manyheads.config.values import Positive, Probability, Settings


class HaltingSettings(Settings):
    """Adaptive computation: each position takes as many steps as it needs."""

    threshold: float = Field(0.99, gt=0.0, lt=1.0, description="1 − ε: a position halts when it is this certain.")
    cost: float = Field(0.01, ge=0.0, description="Weight of the ponder cost in the loss.")


class DepthSettings(LayerSettings):
    """One layer for all depths, applied again and again."""

    kind: Literal["universal"] = Field(
        "universal", description="One layer for all depths, applied again and again (Dehghani et al. 2019)."
    )
    steps: Positive = Field(6, description="Steps in depth; with halting, at most.")
    halting: HaltingSettings | None = Field(
        None, description="Adaptive computation; {} for its defaults. Without it, every position takes all steps."
    )
    attention_dropout: Probability = Field(0.0, description="Dropout of the attention weights.")
    positions: PositionSettings = Field(
        default_factory=SinusoidalSettings,
        description="The positional encodings; absolute ones are added at every step.",
    )

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        """Check the width of a head."""
        heads_divide_width(self.width, self.heads)
        if self.positions.kind == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions need heads of an even width, not {self.width // self.heads}")
        return self

    @property
    def longest(self) -> int | None:
        """The longest sequence that learned positions allow."""
        return self.positions.maximum if self.positions.kind == "learned" else None


class UniversalSettings(DepthSettings):
    """An encoder–decoder of one layer each, for all depths."""

    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of encoder and decoder, which are applied `steps` times."""
        return 1, 1

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        attention = DotProductSettings()
        encoder = self.stack_weights(1, attention, self.positions, attentions=1)
        decoder = self.stack_weights(1, attention, self.positions, attentions=2)
        return encoder + decoder + tied_rows(self.tie, source, target) * self.width

    def distances(self, length: int) -> Distances:
        """Return the distances: every step takes one operation, and connects all positions."""
        return Distances(2 * self.steps, self.steps)

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"
