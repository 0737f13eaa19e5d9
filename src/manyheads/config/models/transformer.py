"""The keys of a Transformer under `model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.models.attention import AnyAttention, AttentionSettings, DotProductSettings
from manyheads.config.models.base import Distances, heads_divide_width, longest_path, stack_path, tied_rows
from manyheads.config.models.layers import LayerSettings
from manyheads.config.models.positions import PositionSettings, SinusoidalSettings
from manyheads.config.values import Positive, Probability, Settings

SIZES: dict[str, dict[str, Any]] = {
    "tiny": {"width": 128, "heads": 4, "encoder_layers": 4, "decoder_layers": 4, "feed_forward": 256},
    "small": {"width": 256, "heads": 4, "encoder_layers": 3, "decoder_layers": 3, "feed_forward": 1024},
    "base": {"width": 512, "heads": 8, "encoder_layers": 6, "decoder_layers": 6, "feed_forward": 2048},
    "big": {
        "width": 1024,
        "heads": 16,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "feed_forward": 4096,
        "dropout": 0.3,  # table 3 of the paper; 0.1 for English–French
    },
}
"""Model sizes by name: the paper's base and big, and two for laptops."""


class VectorSettings(Settings):
    """Pretrained word vectors for the embeddings (word2vec text or binary, GloVe)."""

    source: str | None = Field(None, description="Vectors of the source side (of both, where embeddings are tied).")
    target: str | None = Field(None, description="Vectors of the target side.")
    freeze: bool = Field(False, description="Keep embeddings that were loaded as they are instead of fine-tuning them.")


class TransformerSettings(LayerSettings):
    """The paper's encoder–decoder."""

    kind: Literal["transformer"] = Field("transformer", description="The paper's encoder–decoder.")
    preset: Literal["tiny", "small", "base", "big"] | None = Field(
        None,
        description="Sizes to start from: tiny, small, base or big; keys given here replace the preset's.",
    )
    width: Positive = Field(512, description="d_model, the width of every layer.")
    encoder_layers: Positive = Field(6, description="Layers of the encoder.")
    decoder_layers: Positive = Field(6, description="Layers of the decoder.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    query_key_norm: Literal["none", "self", "all"] = Field(
        "none", description="RMSNorm of queries and keys: in no attention, in self-attention, or in all."
    )
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )
    output_bias: bool = Field(False, description="A bias in the output layer.")
    attention: AttentionSettings = Field(
        default_factory=DotProductSettings, description="The self-attention in every head."
    )
    decoder_attention: AttentionSettings | None = Field(
        None, description="The decoder's self-attention, where it is another than the encoder's."
    )
    positions: PositionSettings = Field(default_factory=SinusoidalSettings, description="The positional encodings.")
    vectors: VectorSettings | None = Field(None, description="Pretrained word vectors.")

    @model_validator(mode="before")
    @classmethod
    def _start_from_preset(cls, values: object) -> object:
        """Fill in the sizes of the preset; keys that are given replace them."""
        if not isinstance(values, Mapping):
            return values
        return {**SIZES.get(str(values.get("preset")), {}), **values}

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole."""
        heads_divide_width(self.width, self.heads)
        return self

    @property
    def summary(self) -> str:
        """The model in a few words, for messages."""
        preset = f"{self.preset} model" if self.preset else "model"
        layers = f"{self.encoder_layers} + {self.decoder_layers} layers"
        return f"a {preset} ({layers}, width {self.width}, dropout {self.dropout})"

    @property
    def depths(self) -> tuple[int, ...]:
        """The number of layers of encoder and decoder."""
        return self.encoder_layers, self.decoder_layers

    def weights(self, source: int, target: int) -> int:
        """Return the number of weights, without norms and biases."""
        encoder = self.stack_weights(self.encoder_layers, self.attention, self.positions, attentions=1)
        decoder = self.stack_weights(self.decoder_layers, self.attention_of_decoder, self.positions, attentions=2)
        return encoder + decoder + tied_rows(self.tie, source, target) * self.width

    def distances(self, length: int) -> Distances | None:
        """Return the distances through both stacks; None where attention's reach cannot be told."""
        reading = self.attention.layers_across(length, causal=False)
        writing = self.attention_of_decoder.layers_across(length, causal=True)
        if reading is None or writing is None:
            return None
        path = longest_path(stack_path(self.encoder_layers, reading), stack_path(self.decoder_layers, writing))
        return Distances(self.encoder_layers + self.decoder_layers, path)

    @property
    def longest(self) -> int | None:
        """The longest sequence that learned positions allow."""
        return self.positions.maximum if self.positions.kind == "learned" else None

    @property
    def one_vocabulary(self) -> bool:
        """Embeddings tied three ways need one vocabulary."""
        return self.tie == "all"

    def check_length(self, longest: int) -> None:
        """Check that there are enough randomised positions for the longest sentence and its end token."""
        randomised = getattr(self.positions, "randomised", 0)
        if 0 < randomised <= longest:
            raise ValueError(f"model.positions.randomised: {randomised} must be above data.max_length: {longest}")

    @property
    def attention_of_decoder(self) -> AnyAttention:
        """The decoder's self-attention."""
        return self.decoder_attention or self.attention

    @model_validator(mode="after")
    def _decoder_looks_back(self) -> Self:
        """Check that the decoder's attention can be causal."""
        if self.attention_of_decoder.kind == "linformer":
            raise ValueError(
                "linformer mixes all positions, the future included, so a decoder cannot have it: "
                "set decoder_attention: {kind: dot_product}"
            )
        return self

    @model_validator(mode="after")
    def _distances_need_scores(self) -> Self:
        """Check that attention has a score for each query and key if positions add a term to it."""
        for attention in (self.attention, self.attention_of_decoder):
            if self.positions.in_scores and not attention.has_scores:
                reason = {
                    "linformer": "compares queries with mixtures of keys, which have no position",
                    "hashing": "sorts keys by their content, and ignores their order",
                }.get(attention.kind, "never computes a score of one query and one key")
                raise ValueError(
                    f"{self.positions.kind} positions add to each score, but {attention.kind} attention {reason}: "
                    "use rotary, sinusoidal or learned positions"
                )
        return self

    @model_validator(mode="after")
    def _rotary_turns_pairs(self) -> Self:
        """Check that the width of a head is even, since rotary positions rotate pairs of numbers."""
        if self.positions.kind == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions need heads of an even width, not {self.width // self.heads}")
        return self
