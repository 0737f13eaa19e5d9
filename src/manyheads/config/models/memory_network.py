"""The keys of an end-to-end memory network under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import ModelSettings
from manyheads.config.values import Natural, Positive, Probability


class MemoryNetworkSettings(ModelSettings):
    """Attention over a memory of facts, several times in a row; the defaults are those of the paper for all of bAbI."""

    kind: Literal["memory_network"] = Field(
        "memory_network", description="The end-to-end memory network: attention over facts, several times in a row."
    )
    width: Positive = Field(50, description="d, the width of the vectors of facts, question and answer.")
    dropout: Probability = Field(0.0, description="Dropout of the state that the answer is predicted from.")
    hops: Positive = Field(3, description="K, how often the memory is read.")
    tying: Literal["adjacent", "layer_wise"] = Field(
        "adjacent",
        description="Shared embeddings: the output of a hop is the input of the next (adjacent), or all hops have the "
        "same two and a linear layer H between them (layer_wise).",
    )
    position_encoding: bool = Field(
        True, description="Weigh the words of a sentence by their places; otherwise a sentence is a bag of words."
    )
    temporal: bool = Field(True, description="Learn a vector for each place in the memory, so that order is known.")
    memory: Positive = Field(50, description="Facts that the memory holds: the most recent ones of a story.")
    noise: Probability = Field(
        0.1, description="Share of empty memories that are inserted at random places while training."
    )
    empty_places: bool = Field(
        False,
        description="Let the places of the memory that hold no fact take part in the softmax with a score of 0, so "
        "that a hop need not read anything.",
    )
    relu: bool = Field(False, description="ReLU after each hop, for layer_wise tying.")
    linear_start_until: Natural = Field(
        0, description="Step until which the hops have no softmax (linear start); 0: softmax from the beginning."
    )

    @model_validator(mode="after")
    def _relu_has_its_tying(self) -> Self:
        """Check that ReLU is used with layer-wise tying alone."""
        if self.relu and self.tying != "layer_wise":
            raise ValueError("relu is for tying: layer_wise")
        return self

    @property
    def noise_share(self) -> float:
        """The share of empty memories while training: without places in time they would mean nothing."""
        return self.noise if self.temporal else 0.0

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of hops."""
        return (self.hops,)

    @property
    def embeddings(self) -> int:
        """The number of embeddings that read facts."""
        return self.hops + 1 if self.tying == "adjacent" else 2

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights."""
        facts = self.embeddings * (source + self.memory * self.temporal) * self.width
        others = 0 if self.tying == "adjacent" else (source + target) * self.width + self.width**2
        return facts + others
