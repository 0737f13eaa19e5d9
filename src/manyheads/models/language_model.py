"""A decoder-only Transformer: it continues a text, and each position sees those before it.

    x_t = √d_model · E[token_t] + PE[t]
    hidden = N layers of masked self-attention and feed-forward, each inside Add & Norm
    logits = hidden · Eᵀ

This is the paper's decoder without the attention over an encoder's output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from torch import Tensor, nn

from manyheads.attention.cache import Cache
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.embedding import token_vectors
from manyheads.layers.gated_feed_forward import AnyFeedForward
from manyheads.layers.norms import Normalization
from manyheads.models.decoder_only import DecoderOnly
from manyheads.models.interface import Decoded, LanguageModel
from manyheads.models.parts import make_embedding, make_feed_forward, make_self_attention, normalization

PIECE = 256  # tokens that are read at once: their weights over a long past take little memory


@dataclass(frozen=True)
class TextState:
    """Where a text stands: the next position, each layer's past, and the number of rows."""

    position: int
    caches: list[Cache]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def select(self, rows: Tensor) -> TextState:
        """Return the given rows [M], in that order."""
        return replace(self, caches=[cache.select(rows) for cache in self.caches], rows=len(rows))


class LanguageModelLayer(nn.Module):
    """Masked self-attention, then feed-forward, each inside Add & Norm."""

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: AnyFeedForward,
        *,
        dropout: float,
        normalization: Normalization,
    ) -> None:
        super().__init__()
        self.self_attention = attention
        self.feed_forward = feed_forward
        self.attention_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)
        self.feed_forward_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)

    def forward(
        self, states: Tensor, cache: Cache | None = None, *, memory: Tensor | None = None, reach: int | None = None
    ) -> Tensor:
        """Return new states [B, T, D] for states [B, T, D], which see their past and the cache's.

        In place of a cache, `memory` [B, M, D] may be what the layer has read before. `reach` limits how far back each
        position sees.
        """
        mask, norm, attention = Mask(causal=True, reach=reach), self.attention_norm, self.self_attention
        past = None
        if memory is not None:
            past = attention.keys_values(norm.norm(memory) if norm.order == "pre" else memory)
        states = norm(states, lambda x: attention(x, mask, cache, past=past))
        return self.feed_forward_norm(states, self.feed_forward)


class TransformerLanguageModel(DecoderOnly, LanguageModel[TextState]):
    """The decoder-only Transformer."""

    @classmethod
    def from_settings(cls, settings: LanguageModelSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        vectors = token_vectors(vocabulary, settings.width)
        output = vectors if settings.tie else token_vectors(vocabulary, settings.width)
        layers = (_layer(settings, number) for number in range(settings.layers))
        embedding = make_embedding(vectors, settings.positions, dropout=settings.dropout)
        return cls(embedding, layers, output, normalization=normalization(settings))

    def decode(self, tokens: Tensor) -> Decoded:
        """Return hidden states [B, T, D] of token ids [B, T]."""
        states = self.embedding(tokens)
        for layer in self.layers:
            states = layer(states)
        return Decoded(self.final_norm(states))

    def begin(self, context: int) -> TextState:
        """Return the state before the first token of `context` rows."""
        caches = [layer.self_attention.new_cache() for layer in self._layers()]
        return TextState(0, caches, context)

    def step(self, tokens: Tensor, state: TextState) -> tuple[Tensor, TextState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        states, state = self._extended(tokens[:, None], state)
        return self.logits(self.final_norm(states))[:, 0], state

    def read(self, tokens: Tensor, state: TextState) -> TextState:
        """Return the state after T more tokens per row [B, T]; full attention reads them in pieces."""
        if not all(isinstance(layer.self_attention.mechanism, DotProductAttention) for layer in self._layers()):
            return super().read(tokens, state)  # a window or a sum of features takes one step at a time
        for begin in range(0, tokens.shape[1], PIECE):
            _, state = self._extended(tokens[:, begin : begin + PIECE], state)
        return state

    def _extended(self, tokens: Tensor, state: TextState) -> tuple[Tensor, TextState]:
        """Read T more tokens per row [B, T]; return their states [B, T, D] and the state after them."""
        states = self.embedding(tokens, start=state.position)
        for layer, cache in zip(self.layers, state.caches, strict=True):
            states = layer(states, cache)
        return states, replace(state, position=state.position + tokens.shape[1])

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the projections, of the feed-forward networks, and of queries with keys and values."""
        total = 0
        for layer in self._layers():
            width = layer.self_attention.width
            total += 4 * width**2 + layer.feed_forward.multiplications + 2 * width * target
        return rows * target * total

    def _layers(self) -> list[LanguageModelLayer]:
        return [layer for layer in self.layers if isinstance(layer, LanguageModelLayer)]


def _layer(settings: LanguageModelSettings, number: int) -> LanguageModelLayer:
    """Return one layer."""
    attention = make_self_attention(
        settings.attention,
        settings.positions,
        width=settings.width,
        heads=settings.heads,
        seed=number,
        causal=True,
        bias=settings.biases,
        query_key_norm=settings.query_key_norm != "none",
    )
    return LanguageModelLayer(
        attention, make_feed_forward(settings), dropout=settings.dropout, normalization=normalization(settings)
    )
