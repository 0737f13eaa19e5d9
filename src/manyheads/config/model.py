"""The keys under `model`: what is built."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.values import Natural, Number, Positive, Probability, Settings

AttentionKind = Literal["dot_product", "window", "bigbird", "performer", "linformer", "hashing", "linear"]
ATTENTION_KEYS: dict[str, tuple[AttentionKind, ...]] = {
    "dropout": ("dot_product",),
    "window": ("window",),
    "dilation": ("window",),
    "global_tokens": ("window",),
    "block": ("bigbird",),
    "global_blocks": ("bigbird",),
    "random_blocks": ("bigbird",),
    "features": ("performer",),
    "redraw": ("performer",),
    "rank": ("linformer",),
    "length": ("linformer",),
    "shared": ("linformer",),
    "chunk": ("hashing",),
    "rounds": ("hashing",),
}
"""Which kinds of attention each key is for."""


class AttentionSettings(Settings):
    """The self-attention inside every head."""

    kind: AttentionKind = Field(
        "dot_product",
        description="dot_product (full, as in the paper), window, bigbird, performer, linformer, hashing or linear.",
    )
    dropout: Probability = Field(0.0, description="Of dot_product: dropout of the weights; the paper has none.")
    window: Positive = Field(128, description="Of window: how many keys are seen on each side.")
    dilation: Positive = Field(1, description="Of window: the step between keys that are seen.")
    global_tokens: Natural = Field(0, description="Of window: first tokens that see and are seen by everybody.")
    block: Positive = Field(64, description="Of bigbird: positions of a block.")
    global_blocks: Positive = Field(1, description="Of bigbird: first blocks that see and are seen by everybody.")
    random_blocks: Natural = Field(3, description="Of bigbird: blocks that each one sees at random.")
    features: Positive = Field(256, description="Of performer: random features.")
    redraw: Natural = Field(1000, description="Of performer: training steps between two draws of them; 0 for one draw.")
    rank: Positive = Field(128, description="Of linformer: keys that are left after projection.")
    length: Positive = Field(1024, description="Of linformer: longest sequence.")
    shared: bool = Field(True, description="Of linformer: one projection for all heads.")
    chunk: Positive = Field(64, description="Of hashing: positions of a chunk.")
    rounds: Positive = Field(2, description="Of hashing: independent hashes.")

    @model_validator(mode="after")
    def _keys_belong_to_the_kind(self) -> Self:
        """A key that the kind does not have would be without effect."""
        for key in sorted(self.model_fields_set):
            kinds = ATTENTION_KEYS.get(key, (self.kind,))
            if self.kind not in kinds and getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"`{key}` is for {' and '.join(kinds)} attention, not for {self.kind}")
        return self

    @model_validator(mode="after")
    def _rank_is_lower(self) -> Self:
        """A projection to more keys than there are saves nothing."""
        if self.kind == "linformer" and self.rank > self.length:
            raise ValueError(f"rank {self.rank} is above the length of {self.length} that it is to lower")
        return self

    @property
    def has_scores(self) -> bool:
        """Whether each query is compared with each key by itself, so that a distance can be added to the score."""
        return self.kind in ("dot_product", "window", "bigbird")


class PositionSettings(Settings):
    """How the model knows where a token stands."""

    kind: Literal["sinusoidal", "learned", "relative", "t5", "rotary", "alibi"] = Field(
        "sinusoidal", description="sinusoidal (the paper's) or learned; or by distance: relative, t5, rotary, alibi."
    )
    maximum: Positive = Field(1024, description="Longest sequence for learned positions.")
    randomised: Natural = Field(
        0, description="For sinusoidal and learned: draw from so many positions in training; 0 to count 0, 1, 2, …."
    )
    clip: Positive = Field(16, description="For relative: the distance beyond which all are alike.")
    buckets: Annotated[int, Number, Field(ge=4)] = Field(32, description="For t5: numbers learned by each head.")
    reach: Positive = Field(128, description="For t5: the distance beyond which all are alike.")

    @property
    def absolute(self) -> bool:
        """Whether they are added to the embeddings."""
        return self.kind in ("sinusoidal", "learned")

    @model_validator(mode="after")
    def _positions_can_be_drawn(self) -> Self:
        """Only what is added to the embeddings can be drawn, and only from a table that holds it."""
        if self.randomised and not self.absolute:
            raise ValueError(f"randomised is for sinusoidal and learned positions, not for {self.kind}")
        if self.kind == "learned" and self.randomised > self.maximum:
            raise ValueError(f"randomised {self.randomised} is above the maximum of {self.maximum} learned positions")
        return self

    @model_validator(mode="after")
    def _reach_is_far(self) -> Self:
        """The wide buckets begin where the exact ones end."""
        if self.kind == "t5" and self.reach <= self.buckets // 2:
            raise ValueError(f"reach {self.reach} must be above half of the {self.buckets} buckets")
        return self


class VectorSettings(Settings):
    """Pretrained word vectors for the embeddings (word2vec text or binary, GloVe)."""

    source: str | None = Field(None, description="Vectors of the source side (of both, where embeddings are tied).")
    target: str | None = Field(None, description="Vectors of the target side.")
    freeze: bool = Field(False, description="Keep embeddings that were loaded as they are instead of fine-tuning them.")


class ModelSettings(Settings):
    """The model."""

    kind: Literal["transformer"] = Field("transformer", description="transformer: the paper's encoder–decoder.")
    preset: Literal["tiny", "small", "base", "big"] | None = Field(
        None,
        description="Sizes to start from: tiny, small, base or big; keys given here replace the preset's.",
    )
    width: Positive = Field(512, description="d_model, the width of every layer.")
    heads: Positive = Field(8, description="h, the number of attention heads; the width must be divisible by it.")
    encoder_layers: Positive = Field(6, description="Layers of the encoder.")
    decoder_layers: Positive = Field(6, description="Layers of the decoder.")
    feed_forward: Positive = Field(2048, description="d_ff, the inner width of the feed-forward networks.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    activation: Literal["relu", "gelu", "swish"] = Field("relu", description="Activation of the feed-forward networks.")
    norm: Literal["post", "pre"] = Field("post", description="LayerNorm after each residual sum (the paper) or before.")
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )
    output_bias: bool = Field(False, description="A bias in the output layer.")
    attention: AttentionSettings = Field(
        default_factory=AttentionSettings, description="The self-attention in every head."
    )
    decoder_attention: AttentionSettings | None = Field(
        None, description="The decoder's self-attention, where it is another than the encoder's."
    )
    positions: PositionSettings = Field(default_factory=PositionSettings, description="The positional encodings.")
    vectors: VectorSettings | None = Field(None, description="Pretrained word vectors.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole."""
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by {self.heads} heads")
        return self

    @property
    def attention_of_decoder(self) -> AttentionSettings:
        """The decoder's self-attention."""
        return self.decoder_attention or self.attention

    @model_validator(mode="after")
    def _decoder_looks_back(self) -> Self:
        """Some attention cannot help seeing the future."""
        if self.attention_of_decoder.kind == "linformer":
            raise ValueError(
                "linformer mixes all positions, the future included, so a decoder cannot have it: "
                "set decoder_attention: {kind: dot_product}"
            )
        return self

    @model_validator(mode="after")
    def _distances_need_scores(self) -> Self:
        """A term of the distance needs a score of its own for each query and key."""
        for attention in (self.attention, self.attention_of_decoder):
            if self.positions.kind in ("relative", "t5", "alibi") and not attention.has_scores:
                reason = {
                    "linformer": "compares queries with mixtures of keys, which stand nowhere",
                    "hashing": "sorts keys by what they are, and knows no order among them",
                }.get(attention.kind, "never computes a score of one query and one key")
                raise ValueError(
                    f"{self.positions.kind} positions add to each score, but {attention.kind} attention {reason}: "
                    "use rotary, sinusoidal or learned positions"
                )
        return self

    @model_validator(mode="after")
    def _rotary_turns_pairs(self) -> Self:
        """A rotation takes two numbers."""
        if self.positions.kind == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions need heads of an even width, not {self.width // self.heads}")
        return self
