"""The keys under `model` that every language model with a memory of earlier text has."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.base import Distances, heads_divide_width, stack_path
from manyheads.config.models.layers import LayerSettings
from manyheads.config.models.positions import RelativeSinusoidalSettings
from manyheads.config.values import Positive, Probability


class RememberingSettings(LayerSettings):
    """A stack of layers, each of which attends to earlier text too."""

    layers: Positive = Field(6, description="Layers of the decoder.")
    attention_dropout: Probability = Field(0.0, description="Dropout of the attention weights.")
    norm: Literal["post", "pre"] = Field("pre", description="Norms after each residual sum (the paper) or before.")
    tie: bool = Field(True, description="The embeddings are the weights of the output layer too.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole."""
        heads_divide_width(self.width, self.heads)
        return self

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers."""
        return (self.layers,)

    @property
    def reach(self) -> int:
        """How many earlier positions each position attends to in every layer, compressed or not."""
        raise NotImplementedError

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        stack = self.stack_weights(self.layers, DotProductSettings(), RelativeSinusoidalSettings(), attentions=1)
        return stack + (target if self.tie else source + target) * self.width

    def distances(self, length: int) -> Distances:
        """Return the distances: each layer reaches back as far as it remembers."""
        needed = -(-(length - 1) // self.reach) if self.reach else length
        return Distances(self.layers, stack_path(self.layers, max(1, needed)))
