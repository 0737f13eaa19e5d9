"""A decoder-only Transformer: it continues a text, and each position sees those before it.

    x_t = √d_model · E[token_t] + PE[t]
    hidden = N layers of masked self-attention and feed-forward, each inside Add & Norm
    logits = hidden · Eᵀ

This is the paper's decoder without the attention over an encoder's output.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from torch import Tensor, nn

from manyheads.attention.cache import Cache
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.gated_feed_forward import AnyFeedForward
from manyheads.layers.norms import Normalization
from manyheads.models.interface import Decoded, LanguageModel
from manyheads.models.parts import make_embedding, make_feed_forward, make_self_attention, normalization


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

    def forward(self, states: Tensor, cache: Cache | None = None) -> Tensor:
        """Return new states [B, T, D] for states [B, T, D], which see their past and the cache's."""
        mask = Mask(causal=True)
        states = self.attention_norm(states, lambda x: self.self_attention(x, mask, cache))
        return self.feed_forward_norm(states, self.feed_forward)


class TransformerLanguageModel(LanguageModel[TextState]):
    """The decoder-only Transformer."""

    def __init__(
        self,
        embedding: Embedding,
        layers: Iterable[LanguageModelLayer],
        output: nn.Parameter,
        *,
        normalization: Normalization,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.final_norm = normalization.final_norm(output.shape[1])
        self.output = output  # [V, D]; the same parameter as the embeddings' where they are tied

    @classmethod
    def from_settings(cls, settings: LanguageModelSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        vectors = token_vectors(vocabulary, settings.width)
        output = vectors if settings.tie else token_vectors(vocabulary, settings.width)
        layers = (_layer(settings, number) for number in range(settings.layers))
        embedding = make_embedding(vectors, settings.positions, dropout=settings.dropout)
        return cls(embedding, layers, output, normalization=normalization(settings))

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

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
        states = self.embedding(tokens[:, None], start=state.position)
        for layer, cache in zip(self.layers, state.caches, strict=True):
            states = layer(states, cache)
        return self.logits(self.final_norm(states))[:, 0], replace(state, position=state.position + 1)

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
