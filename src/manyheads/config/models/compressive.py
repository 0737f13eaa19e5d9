"""The keys of a Compressive Transformer under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.remembering import RememberingSettings
from manyheads.config.values import Positive

CompressionKind = Literal["mean", "max", "convolution", "dilated_convolution", "most_used"]
CompressionLossKind = Literal["attention", "auto_encoding"]
LEARNED: tuple[CompressionKind, ...] = ("convolution", "dilated_convolution")


class CompressiveSettings(RememberingSettings):
    """A language model that compresses what it would otherwise forget."""

    kind: Literal["compressive"] = Field(
        "compressive", description="A language model with a memory and a compressed one (Rae et al. 2019)."
    )
    memory: Positive = Field(128, description="Earlier positions that each position attends to, in every layer.")
    compressed: Positive = Field(
        128, description="Compressed memories that each position attends to beyond them, in every layer."
    )
    rate: Positive = Field(4, description="c, the number of positions that become one compressed memory.")
    compression: CompressionKind = Field(
        "convolution",
        description="How they do: mean or max of them, a convolution, one whose places are two positions apart, or the "
        "one that was attended to most.",
    )
    compression_loss: CompressionLossKind = Field(
        "attention",
        description="What a convolution learns: that attention to the compressed memory returns the same, or that the "
        "memory can be computed from it.",
    )

    @model_validator(mode="after")
    def _rate_divides_memory(self) -> Self:
        """Check that the memory is a whole number of what is compressed at once."""
        check_rate(self.memory, self.rate)
        return self

    @property
    def reach(self) -> int:
        """How many earlier positions each position attends to in every layer, compressed or not."""
        return self.memory + self.compressed * self.rate

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        matrices = (2 if self.compression_loss == "auto_encoding" else 1) if self.compression in LEARNED else 0
        return super().weights(source, target) + self.layers * matrices * self.rate * self.width**2


def check_rate(memory: int, rate: int) -> None:
    """Raise a `ValueError` unless a memory is a whole number of what is compressed at once."""
    if memory % rate:
        raise ValueError(f"memory {memory} is not divisible by the compression rate {rate}")
