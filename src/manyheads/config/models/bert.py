"""The keys of a BERT under `model`: the encoder half of the Transformer, with learned positions and segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import AttentionSettings, DotProductSettings
from manyheads.config.models.base import Distances, ModelSettings, heads_divide_width, stack_path
from manyheads.config.values import Natural, Positive, Probability, Settings

ATTENTION_DROPOUT = 0.1  # of the original


class BertSettings(ModelSettings):
    """The sizes of a BERT; the defaults are those of BERT-base."""

    kind: Literal["bert"] = Field("bert", description="The Transformer's encoder alone.")

    width: Positive = Field(768, description="d_model, the width of every layer.")
    heads: Positive = Field(12, description="h, the number of attention heads; the width must be divisible by it.")
    layers: Positive = Field(12, description="Layers of the encoder.")
    feed_forward: Positive = Field(3072, description="d_ff, the inner width of the feed-forward networks.")
    positions: Positive = Field(512, description="Longest sequence, special tokens included.")
    segments: Positive = Field(2, description="Number of texts that one sequence may hold: 2 for pairs.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    attention: AttentionSettings = Field(
        default_factory=lambda: DotProductSettings(dropout=ATTENTION_DROPOUT),
        description="The self-attention in every head; the dropout of dot_product is 0.1 here.",
    )
    activation: Literal["relu", "gelu", "swish"] = Field("gelu", description="Activation of the feed-forward networks.")
    norm_epsilon: float = Field(1e-12, gt=0.0, description="ε of every LayerNorm.")
    pooler: bool = Field(True, description="A layer with tanh on the first token's state, for whole sequences.")
    word_head: bool = Field(False, description="The head that predicts masked tokens.")
    outputs: Natural = Field(0, description="Outputs of the task's own head: one per label, or 2 for start and end.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole, and a sequence no longer than Linformer's projections."""
        if self.attention.kind == "linformer" and self.attention.length < self.positions:
            raise ValueError(f"attention.length {self.attention.length} is below the {self.positions} positions")
        heads_divide_width(self.width, self.heads)
        return self

    @model_validator(mode="before")
    @classmethod
    def _one_attention_dropout(cls, values: object) -> object:
        """Fill in BERT's own dropout of attention weights, and read the key that earlier versions had for it."""
        if not isinstance(values, Mapping) or isinstance(values.get("attention"), Settings):
            return values
        values = dict(values)
        attention = values.get("attention")
        attention = {} if attention is None else attention
        earlier = values.pop("attention_dropout", None)
        if isinstance(attention, Mapping) and attention.get("kind", "dot_product") == "dot_product":
            # Earlier versions wrote both keys, and a dropout of 0 in the section meant the other one.
            given = attention.get("dropout") or None if earlier is not None else attention.get("dropout")
            default = ATTENTION_DROPOUT if earlier is None else earlier
            values["attention"] = {**attention, "dropout": default if given is None else given}
        return values

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers."""
        return (self.layers,)

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms, biases and heads."""
        layer = 4 * self.width**2 + 2 * self.width * self.feed_forward + self.attention.weights(self.width, self.heads)
        return self.layers * layer + (source + self.positions + self.segments) * self.width

    def distances(self, length: int) -> Distances | None:
        """Return the distances through the stack; None where attention's reach cannot be told."""
        needed = self.attention.layers_across(length, causal=False)
        return None if needed is None else Distances(self.layers, stack_path(self.layers, needed))

    @property
    def longest(self) -> int:
        """The number of positions."""
        return self.positions
