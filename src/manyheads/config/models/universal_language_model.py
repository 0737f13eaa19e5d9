"""The keys of a decoder-only Universal Transformer under `model`."""

from __future__ import annotations

from pydantic import Field

from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.base import Distances
from manyheads.config.models.universal import DepthSettings


class UniversalLanguageModelSettings(DepthSettings):
    """One layer of the decoder without a source, for all depths."""

    tie: bool = Field(True, description="The embeddings are the weights of the output layer too.")

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers, which is applied `steps` times."""
        return (1,)

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        stack = self.stack_weights(1, DotProductSettings(), self.positions, attentions=1)
        return stack + (target if self.tie else source + target) * self.width

    def distances(self, length: int) -> Distances:
        """Return the distances: every step takes one operation, and connects all positions."""
        return Distances(self.steps, self.steps)
