"""The keys of ConvS2S, a convolutional encoder–decoder with attention, under `model`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import Distances, ModelSettings, longest_path, stack_path, tied_rows
from manyheads.config.values import Number, Positive

KernelWidth = Annotated[int, Number, Field(ge=2, le=1000)]  # a convolution of width 1 sees no other position


def kernel_is_centred(width: int) -> None:
    """Raise a `ValueError` unless a convolution of this width sees as many positions to the left as to the right."""
    if width % 2 == 0:
        raise ValueError(
            f"encoder_kernel {width} is even, but a convolution of the encoder sees as many tokens on the left of its "
            f"own as on the right: use {width - 1} or {width + 1} (decoder_kernel may be even)"
        )


class ConvS2SSettings(ModelSettings):
    """Gated convolutions that read and write, with attention in every layer of the decoder."""

    kind: Literal["conv_s2s"] = Field("conv_s2s", description="Gated convolutions with attention (ConvS2S).")
    encoder_layers: Positive = Field(4, description="Layers of the encoder.")
    decoder_layers: Positive = Field(3, description="Layers of the decoder.")
    encoder_kernel: KernelWidth = Field(
        3, description="Tokens that a convolution of the encoder sees, an odd number: its own is in the middle."
    )
    decoder_kernel: KernelWidth = Field(
        3, description="Tokens that a convolution of the decoder sees, even or odd: its own is the last."
    )
    maximum_positions: Positive = Field(
        1024, description="Longest sequence, end token included: each position has a trained vector."
    )
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )

    @model_validator(mode="after")
    def _encoder_is_centred(self) -> Self:
        """Check that the encoder's convolutions have a middle."""
        kernel_is_centred(self.encoder_kernel)
        return self

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of encoder and decoder."""
        return self.encoder_layers, self.decoder_layers

    @property
    def longest(self) -> int:
        """The number of positions that have a vector."""
        return self.maximum_positions

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without biases and the lengths of weight normalisation."""
        matrix = self.width**2
        encoder = self.encoder_layers * 2 * self.encoder_kernel * matrix + 2 * matrix
        decoder = self.decoder_layers * (2 * self.decoder_kernel * matrix + 2 * matrix) + 2 * matrix
        vectors = 2 * self.maximum_positions + tied_rows(self.tie, source, target)
        return encoder + decoder + vectors * self.width

    def distances(self, length: int) -> Distances:
        """Return the distances: every layer takes one operation, and neighbours are as near as the kernels are wide.

        A convolution of the encoder moves a signal by (k − 1)/2 positions, one of the decoder by k − 1. So the ends of
        a sequence are O(n/k) convolutions apart inside a stack, and only a stack of this depth connects them. From a
        target position to a source position it is one attention, however far apart they are; that is not counted here.
        """
        moved = (self.encoder_kernel - 1) // 2, self.decoder_kernel - 1
        needed = [-(-(length - 1) // one) for one in moved]
        return Distances(sum(self.depths), longest_path(*map(stack_path, self.depths, needed)))

    def check_length(self, longest: int) -> None:
        """Check that there are positions for the longest sentence and its end token."""
        if longest >= self.maximum_positions:
            raise ValueError(
                f"model.maximum_positions: {self.maximum_positions} must be above data.max_length: {longest}"
            )
