"""The keys of a Neural GPU under `model`."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import Distances, ModelSettings
from manyheads.config.values import Positive

GATES = 3  # kernels of a CGRU: update, reset and candidate
CONVOLUTIONS = 2  # of a CGRU, one after the other: the gates, and the candidate, which needs the reset gate


class NeuralGPUSettings(ModelSettings):
    """Convolutional gated recurrent units over a mental image of the source."""

    kind: Literal["neural_gpu"] = Field(
        "neural_gpu", description="the Neural GPU, convolutions that are repeated over an image of the source."
    )
    width: Positive = Field(24, description="m, the numbers in each cell of the image.")
    decoder: Literal["independent", "active_memory"] = Field(
        "independent",
        description="independent: all outputs are read off the last image at once; active_memory: one after the other, "
        "each with those before it on a tape (the Extended Neural GPU, which translates).",
    )
    columns: Positive = Field(4, description="w, the columns of the image, the first of which holds the source.")
    layers: Positive = Field(2, description="CGRUs in each step.")
    kernel: Positive = Field(3, description="Size of the convolutions along both axes of the image; odd.")
    relaxation: Positive = Field(
        1, description="r, the sets of parameters that the encoder's steps take in turn; the paper has 6 at first."
    )
    pull: float = Field(
        0.0005, ge=0.0, description="Factor of the squared distance of the sets from their mean in the loss."
    )
    stretch: Positive = Field(1, description="Positions of the image for each token of the source.")
    shortest: Positive = Field(
        1,
        description="Positions that an image has at least. No output is longer than the image: for translation, take "
        "one more than data.max_length.",
    )

    @model_validator(mode="after")
    def _kernel_has_a_centre(self) -> Self:
        """Check that the kernel has a centre, and neighbours from which signals come."""
        if self.kernel % 2 == 0 or self.kernel == 1:
            raise ValueError(f"kernel {self.kernel} has no cell in its middle with neighbours: make it 3, 5, 7, …")
        return self

    @property
    def summary(self) -> str:
        """The model in a few words, for messages."""
        return f"a Neural GPU ({self.decoder} decoder, {self.columns} columns, width {self.width})"

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of CGRUs of the encoder, of all sets of parameters, and of the active-memory decoder."""
        return self.layers * self.relaxation, *([self.layers] if self.decoder == "active_memory" else [])

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without biases."""
        convolution = self.kernel**2 * self.width**2
        encoder = self.layers * self.relaxation * GATES * convolution
        embeddings = (source + target) * self.width
        if self.decoder == "independent":
            return encoder + embeddings
        return encoder + self.layers * GATES * 2 * convolution + embeddings + target * self.width

    def image_length(self, source: int) -> int:
        """Return n, the positions of the image of `source` tokens, and the number of steps of the encoder."""
        return max(self.shortest, self.stretch * source)

    def longest_target(self, source: int) -> int:
        """Return the most tokens that can be written for `source` tokens, the end token counted on both sides."""
        return self.image_length(source)

    def distances(self, length: int) -> Distances:
        """Return the convolutions one after the other, and those that carry a signal from one end to the other."""
        steps = self.image_length(length) + (length if self.decoder == "active_memory" else 0)
        path = math.ceil((length - 1) / (self.kernel // 2))
        return Distances(sequential=CONVOLUTIONS * steps * self.layers, path=path)
