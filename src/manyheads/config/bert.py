"""What a BERT is built from: the encoder half of the Transformer, with learned positions and segments."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.schema import Natural, Positive, Probability, Settings


class BertSettings(Settings):
    """The sizes and habits of one BERT; the defaults are those of BERT-base."""

    width: Positive = Field(768, description="d_model, the width of every layer.")
    heads: Positive = Field(12, description="h, the number of attention heads; the width must be divisible by it.")
    layers: Positive = Field(12, description="Layers of the encoder.")
    feed_forward: Positive = Field(3072, description="d_ff, the inner width of the feed-forward networks.")
    positions: Positive = Field(512, description="Longest sequence, special tokens included.")
    segments: Positive = Field(2, description="How many texts one sequence may hold: 2 for pairs.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    attention_dropout: Probability = Field(0.1, description="Dropout of the attention weights.")
    activation: Literal["relu", "gelu", "swish"] = Field("gelu", description="Activation of the feed-forward networks.")
    norm_epsilon: float = Field(1e-12, gt=0.0, description="ε of every LayerNorm.")
    pooler: bool = Field(True, description="A layer with tanh on the first token's state, for whole sequences.")
    word_head: bool = Field(False, description="The head that predicts masked tokens.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole."""
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by {self.heads} heads")
        return self


class BertConfig(Settings):
    """What is needed to rebuild a BERT: its settings, its vocabulary and its special tokens."""

    kind: Literal["bert"] = "bert"
    model: BertSettings
    vocabulary: Positive
    pad: Natural = 0
    unknown: Natural = 100
    first: Natural = 101  # [CLS], which opens every sequence
    separator: Natural = 102  # [SEP], which closes every text
    mask: Natural = 103
