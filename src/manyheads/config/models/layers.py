"""The keys under `model` that every stack of Transformer layers has: sizes, activation, normalisation, biases."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from manyheads.config.models.attention import AnyAttention
from manyheads.config.models.base import ModelSettings
from manyheads.config.models.positions import AnyPositions
from manyheads.config.values import Positive


class LayerSettings(ModelSettings):
    """Attention and feed-forward layers, each inside Add & Norm."""

    heads: Positive = Field(8, description="h, the number of attention heads; the width must be divisible by it.")
    feed_forward: Positive = Field(2048, description="d_ff, the inner width of the feed-forward networks.")
    activation: Literal["relu", "gelu", "swish"] = Field("relu", description="Activation of the feed-forward networks.")
    gated: bool = Field(
        False,
        description="Gated feed-forward networks: SwiGLU with activation: swish, GeGLU with gelu.",
    )
    norm: Literal["post", "pre"] = Field("post", description="Norms after each residual sum (the paper) or before.")
    norm_kind: Literal["layer", "rms"] = Field("layer", description="LayerNorm (the paper) or RMSNorm.")
    biases: bool = Field(True, description="Biases in attention and feed-forward layers.")

    def stack_weights(self, layers: int, attention: AnyAttention, positions: AnyPositions, *, attentions: int) -> int:
        """Return the number of weights of a stack, without norms and biases; each layer has `attentions` of them."""
        matrices = 3 if self.gated else 2
        layer = attentions * 4 * self.width**2 + matrices * self.width * self.feed_forward
        seen = attention.weights(self.width, self.heads)
        return layers * (layer + seen) + positions.weights(self.width, self.heads, layers)
