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
from manyheads.attention.query_key_norm import QueryKeyNorm
from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.transformer import TransformerSettings
from manyheads.layers.decoder import Decoder, DecoderLayer
from manyheads.layers.embedding import Embedding, tied_vectors
from manyheads.layers.encoder import Encoder, EncoderLayer
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens
from manyheads.models.parts import make_embedding, make_feed_forward, make_self_attention, normalization


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

    def __len__(self) -> int:
        return len(self.memory[0].keys) * self.hypotheses

    def select(self, rows: Tensor) -> DecoderState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        sources = rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        memory, mask = self.memory, self.memory_mask
        if not torch.equal(sources, torch.arange(len(memory[0].keys), device=rows.device)):
            memory, mask = [layer.select(sources) for layer in memory], mask.select(sources)
        return replace(self, caches=[cache.select(rows) for cache in self.caches], memory=memory, memory_mask=mask)


class Transformer(SequenceToSequence[Memory, DecoderState]):
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
        """Read source tokens [B, S]: self-attention in which padding is masked."""
        mask = Mask.padding(source.lengths, source.ids.shape[1])
        return Memory(self.encoder(self.source(source.ids), mask), mask)

    def decode(self, target: Tensor, memory: Memory) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T].

        The look-ahead mask alone is enough here: padding stands on the right, so no real position sees it.
        """
        layers = self.decoder.keys_values(memory.states)
        return Decoded(self.decoder(self.target(target), Mask(causal=True), layers, memory.mask))

    def begin(self, context: Memory) -> DecoderState:
        """Project the memory once for all steps to come; nothing is decoded yet."""
        return self.start(context)

    def start(self, context: Memory, hypotheses: int = 1) -> DecoderState:
        """Project the memory once, for all hypotheses of a source, which share it."""
        caches = self.decoder.new_caches()
        return DecoderState(0, caches, self.decoder.keys_values(context.states), context.mask, hypotheses)

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        embedded = self.target(tokens[:, None], start=state.position)
        hidden = self.decoder(embedded, Mask(causal=True), state.memory, state.memory_mask, state.caches)
        return self.logits(hidden)[:, 0], replace(state, position=state.position + 1)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the projections, of the feed-forward networks, and of queries with keys and values."""
        return rows * (self.encoder.multiplications(source) + self.decoder.multiplications(source, target))

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
        settings = TransformerSettings.model_validate({"preset": name})
        return cls.from_settings(settings, source_vocabulary=vocabulary, target_vocabulary=vocabulary)

    @classmethod
    def from_settings(cls, settings: TransformerSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        source, target, output = tied_vectors(source_vocabulary, target_vocabulary, settings.width, tie=settings.tie)
        return cls(
            source=_embedding(source, settings),
            target=_embedding(target, settings),
            encoder=_encoder(settings),
            decoder=_decoder(settings),
            output=output,
            output_bias=settings.output_bias,
        )


def _embedding(vectors: nn.Parameter, settings: TransformerSettings) -> Embedding:
    """Return the embedding of one side."""
    return make_embedding(vectors, settings.positions, dropout=settings.dropout)


def _self_attention(settings: TransformerSettings, layer: int, *, causal: bool) -> MultiHeadAttention:
    """Return the self-attention of a layer."""
    attention = settings.attention_of_decoder if causal else settings.attention
    return make_self_attention(
        attention,
        settings.positions,
        width=settings.width,
        heads=settings.heads,
        seed=layer,
        causal=causal,
        bias=settings.biases,
        query_key_norm=settings.query_key_norm != "none",
    )


def _cross_attention(settings: TransformerSettings) -> MultiHeadAttention:
    """Return one attention over the encoder's output, which is always full and has no positions."""
    dropout = settings.attention.dropout if isinstance(settings.attention, DotProductSettings) else 0.0
    return MultiHeadAttention(
        settings.width,
        settings.heads,
        bias=settings.biases,
        mechanism=DotProductAttention(dropout=dropout),
        query_key_norm=QueryKeyNorm(settings.width // settings.heads) if settings.query_key_norm == "all" else None,
    )


def _encoder(settings: TransformerSettings) -> Encoder:
    """Return the encoder stack."""
    layers = (
        EncoderLayer(
            _self_attention(settings, layer, causal=False),
            make_feed_forward(settings),
            dropout=settings.dropout,
            normalization=normalization(settings),
        )
        for layer in range(settings.encoder_layers)
    )
    return Encoder(layers, width=settings.width, normalization=normalization(settings))


def _decoder(settings: TransformerSettings) -> Decoder:
    """Return the decoder stack."""
    layers = (
        DecoderLayer(
            _self_attention(settings, settings.encoder_layers + layer, causal=True),
            _cross_attention(settings),
            make_feed_forward(settings),
            dropout=settings.dropout,
            normalization=normalization(settings),
        )
        for layer in range(settings.decoder_layers)
    )
    return Decoder(layers, width=settings.width, normalization=normalization(settings))
