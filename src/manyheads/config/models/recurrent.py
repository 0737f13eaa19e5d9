"""The keys of a recurrent encoder–decoder with attention under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import ModelSettings, tied_rows
from manyheads.config.values import Positive


class RecurrentSettings(ModelSettings):
    """LSTMs that read and write, with attention between them."""

    kind: Literal["recurrent"] = Field("recurrent", description="LSTMs with attention, what the Transformer replaced.")
    encoder_layers: Positive = Field(2, description="Layers of the encoder, which reads in both directions.")
    decoder_layers: Positive = Field(2, description="Layers of the decoder.")
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )

    @model_validator(mode="after")
    def _two_directions(self) -> Self:
        """Each direction of the encoder has half of the width."""
        if self.width % 2:
            raise ValueError(f"width {self.width} is not even: each direction of the encoder has half of it")
        return self

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of encoder and decoder."""
        return self.encoder_layers, self.decoder_layers

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without biases and the layers between encoder and decoder."""
        encoder = self.encoder_layers * 2 * 4 * (self.width // 2) * (self.width + self.width // 2)
        return encoder + self.decoder_layers * 8 * self.width**2 + tied_rows(self.tie, source, target) * self.width

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"
