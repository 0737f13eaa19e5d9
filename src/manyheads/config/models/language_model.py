"""The keys of a decoder-only Transformer under `model`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import AttentionSettings, DotProductSettings
from manyheads.config.models.base import Distances, heads_divide_width, stack_path
from manyheads.config.models.layers import LayerSettings
from manyheads.config.models.positions import PositionSettings, RotarySettings
from manyheads.config.values import Positive


class LanguageModelSettings(LayerSettings):
    """The Transformer's decoder without a source."""

    kind: Literal["language_model"] = Field("language_model", description="The Transformer's decoder without a source.")
    layers: Positive = Field(6, description="Layers of the decoder.")
    activation: Literal["relu", "gelu", "swish"] = Field("gelu", description="Activation of the feed-forward networks.")
    norm: Literal["post", "pre"] = Field("pre", description="Norms after each residual sum (the paper) or before.")
    query_key_norm: Literal["none", "self"] = Field(
        "none", description="RMSNorm of queries and keys: in no attention, or in self-attention."
    )
    tie: bool = Field(True, description="The embeddings are the weights of the output layer too.")
    attention: AttentionSettings = Field(
        default_factory=DotProductSettings, description="The self-attention in every head."
    )
    positions: PositionSettings = Field(default_factory=RotarySettings, description="The positional encodings.")

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        """Check the width of a head, that attention can be causal, and that it has the scores that positions add to."""
        heads_divide_width(self.width, self.heads)
        if self.attention.kind == "linformer":
            raise ValueError("linformer mixes all positions, the future included: use another attention")
        if self.positions.in_scores and not self.attention.has_scores:
            raise ValueError(f"{self.positions.kind} positions add to scores that {self.attention.kind} does not have")
        if self.positions.kind == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions need heads of an even width, not {self.width // self.heads}")
        return self

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers."""
        return (self.layers,)

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        stack = self.stack_weights(self.layers, self.attention, self.positions, attentions=1)
        return stack + (target if self.tie else source + target) * self.width

    def distances(self, length: int) -> Distances | None:
        """Return the distances through the stack; None where attention's reach cannot be told."""
        needed = self.attention.layers_across(length, causal=True)
        return None if needed is None else Distances(self.layers, stack_path(self.layers, needed))

    @property
    def longest(self) -> int | None:
        """The longest sequence that learned positions allow."""
        return self.positions.maximum if self.positions.kind == "learned" else None
