"""The keys of ByteNet, a convolutional encoder–decoder without attention, under `model`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import Distances, ModelSettings, longest_path, stack_path, tied_rows
from manyheads.config.models.conv_s2s import KernelWidth, kernel_is_centred
from manyheads.config.values import Number, Positive


class ByteNetSettings(ModelSettings):
    """Dilated convolutions that read and write, the decoder on top of the encoder."""

    kind: Literal["bytenet"] = Field("bytenet", description="Dilated convolutions without attention (ByteNet).")
    width: Positive = Field(512, description="2d, the width between blocks; the convolutions inside have half of it.")
    block: Literal["relu", "multiplicative"] = Field(
        "relu", description="Residual blocks of ReLUs, as for translation, or of multiplicative units."
    )
    encoder_layers: Positive = Field(10, description="Residual blocks of the encoder.")
    decoder_layers: Positive = Field(10, description="Residual blocks of the decoder.")
    encoder_kernel: KernelWidth = Field(
        5, description="Tokens that a convolution of the encoder sees, an odd number: its own is in the middle."
    )
    decoder_kernel: KernelWidth = Field(
        3, description="Tokens that a convolution of the decoder sees, even or odd: its own is the last."
    )
    largest_dilation: Annotated[int, Number, Field(ge=1, le=4096)] = Field(
        16, description="Distance between the tokens that a convolution sees: 1, 2, 4 … up to this, and from 1 again."
    )
    unfold_ratio: Annotated[float, Number, Field(ge=1.0, le=100.0)] = Field(
        1.2, description="a: a source of n tokens is encoded in a·n + b columns, one for each target token."
    )
    unfold_extra: Annotated[int, Number, Field(ge=0, le=10_000)] = Field(0, description="b, in tokens.")
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )

    @model_validator(mode="after")
    def _shapes_are_possible(self) -> Self:
        """Check that the encoder's convolutions have a middle, the width has a half, and dilations double."""
        kernel_is_centred(self.encoder_kernel)
        if self.width % 2:
            raise ValueError(f"width {self.width} is not even: the convolutions inside the blocks have half of it")
        if self.largest_dilation & (self.largest_dilation - 1):
            below = 1 << (self.largest_dilation.bit_length() - 1)
            raise ValueError(
                f"largest_dilation {self.largest_dilation} is not reached by doubling from 1: "
                f"use {below} or {2 * below}"
            )
        return self

    def dilations(self, layers: int) -> list[int]:
        """Return the dilation of each block of a stack: 1, 2, 4 … up to the largest, and from 1 again."""
        cycle = self.largest_dilation.bit_length()
        return [1 << (layer % cycle) for layer in range(layers)]

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of blocks of encoder and decoder."""
        return self.encoder_layers, self.decoder_layers

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        inner = self.width // 2
        outside = 2 * self.width * inner
        # A multiplicative unit has four convolutions; the second unit of a block has kernels of width 1.
        middle = [k * inner**2 if self.block == "relu" else 4 * (k + 1) * inner**2 for k in self._kernels]
        blocks = sum(layers * (outside + one) for layers, one in zip(self.depths, middle, strict=True))
        return blocks + 2 * self.width**2 + tied_rows(self.tie, source, target) * self.width

    @property
    def _kernels(self) -> tuple[int, int]:
        """The width of the convolutions in encoder and decoder."""
        return self.encoder_kernel, self.decoder_kernel

    def distances(self, length: int) -> Distances:
        """Return the distances: every block takes one operation, and the dilations bring the ends near each other.

        Convolutions of width k whose dilations double reach across n positions in O(log n) blocks. Where the dilations
        begin from 1 again, as they do after `largest_dilation`, each further cycle adds the same reach. A signal from
        source to target passes through the encoder's blocks and then moves on.
        """
        moved = (self.encoder_kernel - 1) // 2, self.decoder_kernel - 1
        needed = [self._blocks_across(length, one) for one in moved]
        return Distances(sum(self.depths), longest_path(*map(stack_path, self.depths, needed)))

    def _blocks_across(self, length: int, moved: int) -> int:
        """Return how many blocks, the first of a stack, move a signal from one end of a sequence to the other.

        A convolution moves it by up to `moved` positions times its dilation.
        """
        cycle = self.dilations(self.largest_dilation.bit_length())
        cycles, left = divmod(max(1, length - 1), moved * sum(cycle))
        blocks = cycles * len(cycle)
        for dilation in cycle:
            if left <= 0:
                break
            left, blocks = left - moved * dilation, blocks + 1
        return blocks
