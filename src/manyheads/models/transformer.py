"""The Transformer, figure 1 of the paper: an encoder, a decoder, and embeddings that both may share.

`Transformer(…)` takes its parts, `Transformer.from_settings` makes them from a configuration, and
`Transformer.base(vocabulary)` and its siblings are the paper's sizes and ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.model import ModelSettings
from manyheads.config.presets import model_preset
from manyheads.layers.decoder import Decoder, DecoderLayer
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.encoder import Encoder, EncoderLayer
from manyheads.layers.feed_forward import FeedForward
from manyheads.models.interface import SequenceToSequence, Tokens
from manyheads.models.mechanisms import make_mechanism, with_heads
from manyheads.positions.alibi import LinearBias
from manyheads.positions.learned import LearnedPositions
from manyheads.positions.relative import RelativePositions
from manyheads.positions.rotary import RotaryPositions
from manyheads.positions.sinusoidal import SinusoidalPositions
from manyheads.positions.t5_bias import BucketedBias
from manyheads.positions.terms import RelativeTerm


@dataclass(frozen=True)
class Memory:
    """What the encoder makes of a source: states [B, S, D] and which of them are real."""

    states: Tensor
    mask: Mask


@dataclass(frozen=True)
class DecoderState:
    """Where decoding stands: the next position, each layer's past, and each layer's view of the source.

    Every source has K hypotheses, which stand next to each other and share its memory: the caches have N·K rows and the
    memory has N.
    """

    position: int
    caches: list[Cache]
    memory: list[KeysValues]
    memory_mask: Mask
    hypotheses: int = 1

    def select(self, rows: Tensor) -> DecoderState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        sources = rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        memory, mask = self.memory, self.memory_mask
        if not torch.equal(sources, torch.arange(len(memory[0].keys), device=rows.device)):
            memory, mask = [layer.select(sources) for layer in memory], mask.select(sources)
        return replace(self, caches=[cache.select(rows) for cache in self.caches], memory=memory, memory_mask=mask)


class Transformer(SequenceToSequence):
    """The encoder–decoder of the paper."""

    def __init__(
        self,
        *,
        source: Embedding,
        target: Embedding,
        encoder: Encoder,
        decoder: Decoder,
        output: nn.Parameter,
        output_bias: bool = False,
    ) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.encoder = encoder
        self.decoder = decoder
        self.output = output  # [V, D]; the same parameter as the embeddings' where they are tied
        self.bias = nn.Parameter(torch.zeros(len(output))) if output_bias else None

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    @property
    def output_bias(self) -> Tensor | None:
        """The output layer's bias b_O [V], if the configuration asks for one."""
        return self.bias

    def encode(self, source: Tokens) -> Memory:
        """Read source tokens [B, S]: self-attention in which padding is seen by nobody."""
        mask = Mask.padding(source.lengths, source.ids.shape[1])
        return Memory(self.encoder(self.source(source.ids), mask), mask)

    def decode(self, target: Tensor, memory: Memory) -> Tensor:
        """Return hidden states [B, T, D] of target ids [B, T].

        The look-ahead mask alone is enough here: padding stands on the right, so no real position sees it.
        """
        layers = self.decoder.keys_values(memory.states)
        hidden: Tensor = self.decoder(self.target(target), Mask(causal=True), layers, memory.mask)
        return hidden

    def start(self, memory: Memory, hypotheses: int = 1) -> DecoderState:
        """Project the memory once for all steps to come; nothing is decoded yet."""
        caches = self.decoder.new_caches()
        return DecoderState(0, caches, self.decoder.keys_values(memory.states), memory.mask, hypotheses)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        embedded = self.target(tokens[:, None], start=state.position)
        hidden = self.decoder(embedded, Mask(causal=True), state.memory, state.memory_mask, state.caches)
        return self.logits(hidden)[:, 0], replace(state, position=state.position + 1)

    @classmethod
    def base(cls, vocabulary: int) -> Self:
        """The paper's base model: 6 + 6 layers, width 512, feed-forward 2,048, 8 heads."""
        return cls._preset("base", vocabulary)

    @classmethod
    def big(cls, vocabulary: int) -> Self:
        """The paper's big model: 6 + 6 layers, width 1,024, feed-forward 4,096, 16 heads."""
        return cls._preset("big", vocabulary)

    @classmethod
    def small(cls, vocabulary: int) -> Self:
        """A model for a laptop: 3 + 3 layers, width 256, feed-forward 1,024, 4 heads."""
        return cls._preset("small", vocabulary)

    @classmethod
    def tiny(cls, vocabulary: int) -> Self:
        """A model for small corpora: 4 + 4 layers, width 128, feed-forward 256, 4 heads."""
        return cls._preset("tiny", vocabulary)

    @classmethod
    def _preset(cls, name: str, vocabulary: int) -> Self:
        """Build a preset with one vocabulary for both sides."""
        return cls.from_settings(model_preset(name), source_vocabulary=vocabulary, target_vocabulary=vocabulary)

    @classmethod
    def from_settings(cls, settings: ModelSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        target = token_vectors(target_vocabulary, settings.width)
        source = target if settings.tie == "all" else token_vectors(source_vocabulary, settings.width)
        output = token_vectors(target_vocabulary, settings.width) if settings.tie == "none" else target
        return cls(
            source=_embedding(source, settings),
            target=_embedding(target, settings),
            encoder=_encoder(settings),
            decoder=_decoder(settings),
            output=output,
            output_bias=settings.output_bias,
        )


def _embedding(vectors: nn.Parameter, settings: ModelSettings) -> Embedding:
    """Return the embedding of one side."""
    randomised = settings.positions.randomised
    return Embedding(vectors, _absolute(settings), dropout=settings.dropout, randomised=randomised)


def _absolute(settings: ModelSettings) -> SinusoidalPositions | LearnedPositions | None:
    """Return the positions that are added to the embeddings of one side, if there are any."""
    if settings.positions.kind == "learned":
        return LearnedPositions(settings.width, maximum=settings.positions.maximum)
    return SinusoidalPositions(settings.width) if settings.positions.absolute else None


def _relative(settings: ModelSettings, *, causal: bool) -> RotaryPositions | RelativeTerm | None:
    """Return the positions that one self-attention sees, if there are any."""
    positions, head_width = settings.positions, settings.width // settings.heads
    if positions.kind == "relative":
        return RelativePositions(head_width, clip=positions.clip)
    if positions.kind == "t5":
        return BucketedBias(settings.heads, buckets=positions.buckets, reach=positions.reach, causal=causal)
    if positions.kind == "alibi":
        return LinearBias(settings.heads)
    return RotaryPositions(head_width) if positions.kind == "rotary" else None


def self_attention(settings: ModelSettings, layer: int, *, causal: bool) -> MultiHeadAttention:
    """Return the self-attention of a layer; what it draws at random is drawn anew in each."""
    attention = settings.attention_of_decoder if causal else settings.attention
    mechanism = make_mechanism(attention, width=settings.width, heads=settings.heads, seed=layer)
    return with_heads(mechanism, settings.width, settings.heads, _relative(settings, causal=causal))


def _cross_attention(settings: ModelSettings) -> MultiHeadAttention:
    """Return one attention over the encoder's output, which is always full and knows no distances."""
    mechanism = DotProductAttention(dropout=settings.attention.dropout)
    return MultiHeadAttention(settings.width, settings.heads, mechanism=mechanism)


def _feed_forward(settings: ModelSettings) -> FeedForward:
    """Return one feed-forward network."""
    return FeedForward(settings.width, settings.feed_forward, activation=settings.activation)


def _encoder(settings: ModelSettings) -> Encoder:
    """Return the encoder stack."""
    layers = (
        EncoderLayer(
            self_attention(settings, layer, causal=False),
            _feed_forward(settings),
            dropout=settings.dropout,
            order=settings.norm,
        )
        for layer in range(settings.encoder_layers)
    )
    return Encoder(layers, width=settings.width, order=settings.norm)


def _decoder(settings: ModelSettings) -> Decoder:
    """Return the decoder stack."""
    layers = (
        DecoderLayer(
            self_attention(settings, settings.encoder_layers + layer, causal=True),
            _cross_attention(settings),
            _feed_forward(settings),
            dropout=settings.dropout,
            order=settings.norm,
        )
        for layer in range(settings.decoder_layers)
    )
    return Decoder(layers, width=settings.width, order=settings.norm)
