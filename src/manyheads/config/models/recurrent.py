"""The keys of a recurrent encoder–decoder under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.base import Distances, ModelSettings, tied_rows
from manyheads.config.values import Positive, Probability

BLOCKS = {"rnn": 1, "gru": 3, "lstm": 4}  # of rows in the matrices of a cell: one for each gate and the candidate


class RecurrentSettings(ModelSettings):
    """Recurrent layers that read and write, with attention between them or without."""

    kind: Literal["recurrent"] = Field(
        "recurrent", description="LSTMs, GRUs or plain recurrent layers with attention, what the Transformer replaced."
    )
    cell: Literal["rnn", "gru", "lstm"] = Field("lstm", description="The recurrent cell: lstm, gru or rnn (tanh).")
    encoder_layers: Positive = Field(2, description="Layers of the encoder.")
    decoder_layers: Positive = Field(2, description="Layers of the decoder.")
    bidirectional: bool = Field(
        True, description="Read the source in both directions, each with half of the width, instead of left to right."
    )
    reverse_source: bool = Field(
        False, description="Read the source from right to left (Sutskever et al. 2014); needs bidirectional: false."
    )
    source_attention: Literal["none", "additive", "dot", "general"] = Field(
        "general",
        description="Attention over the source: additive (Bahdanau et al. 2015), dot or general (Luong et al. 2015), "
        "or none: the source is one vector (Cho et al. 2014).",
    )
    input_feeding: bool = Field(
        False, description="The decoder reads its last output beside each token (Luong et al. 2015)."
    )
    residual: bool = Field(False, description="Add the input of every layer but the first to its output.")
    recurrent_dropout: Probability = Field(
        0.0,
        description="Dropout of recurrent connections, one mask for a whole sequence (Gal and Ghahramani 2016); "
        "above 0 the cells are not fused.",
    )
    fused: bool = Field(True, description="PyTorch's fused cells instead of those written out, with the same numbers.")
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )

    @model_validator(mode="after")
    def _directions_are_possible(self) -> Self:
        """Check that two directions can share the width, and that only one can be from right to left."""
        if self.bidirectional and self.width % 2:
            raise ValueError(
                f"width {self.width} is not even: each direction of the encoder has half of it; "
                "choose an even width or bidirectional: false"
            )
        if self.bidirectional and self.reverse_source:
            raise ValueError(
                "reverse_source is for one direction, and both read the source already: set bidirectional: false"
            )
        return self

    @model_validator(mode="after")
    def _something_to_feed(self) -> Self:
        """Check that there is an attentional vector that the decoder can be fed with."""
        if self.input_feeding and self.source_attention == "none":
            raise ValueError(
                "input_feeding gives the decoder what attention found before, and source_attention is none: "
                "choose general, dot or additive, or input_feeding: false"
            )
        return self

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of encoder and decoder."""
        return self.encoder_layers, self.decoder_layers

    @property
    def decoder_inputs(self) -> int:
        """The width of what the first layer of the decoder reads: a token, and a context or its last output."""
        return 2 * self.width if self.input_feeding or self.source_attention == "none" else self.width

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without biases and the layers between encoder and decoder."""
        directions = 2 if self.bidirectional else 1
        half, blocks = self.width // directions, BLOCKS[self.cell]
        encoder = self.encoder_layers * directions * blocks * half * (self.width + half)
        decoder = self.decoder_layers * 2 * self.width + self.decoder_inputs - self.width
        return encoder + blocks * self.width * decoder + tied_rows(self.tie, source, target) * self.width

    def distances(self, length: int) -> Distances:
        """Return distances that grow with the length, since each position waits for the one before it.

        A layer at one position is an operation, and so is the attention with the layer behind it. From the first
        position to the last a signal takes length − 1 steps in one layer, and then the layers at the last position.
        Layers overlap: the second can begin when the first is at its second position. Two exceptions wait for the end
        of the sequence: a layer above one that reads in both directions, and each position with input feeding.
        """
        overlapping = length - 1 + self.encoder_layers
        reading = self.encoder_layers * length if self.bidirectional else overlapping
        above = self.decoder_layers + 1
        writing = length * above if self.input_feeding else length - 1 + above
        return Distances(reading + writing, max(overlapping, length - 1 + above))

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"
