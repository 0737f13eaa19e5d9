"""Transformer-XL (Dai et al. 2019): a language model that reads a text piece by piece and remembers what came before.

    h̃ⁿ⁻¹_(τ+1) = [ SG(mⁿ⁻¹_τ) ∘ hⁿ⁻¹_(τ+1) ]                  memory, then the piece itself; SG stops gradients
    q = hⁿ⁻¹_(τ+1)·W_q        k, v = h̃ⁿ⁻¹_(τ+1)·W_k, h̃ⁿ⁻¹_(τ+1)·W_v
    hⁿ_(τ+1) = layer n of attention and feed-forward            with the positions of `relative_sinusoidal`

The memory m of a layer is its own input at the last M positions, kept as it was computed. A position in layer n so
depends on n·M earlier positions, with the cost of M. Each position attends to the M positions before it, as in the
authors' evaluation (`same_length`), so that a long text gives the same states in one piece or in many, the gradients
aside, and decoding keeps M keys and values for each layer and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Self, cast

import torch
from torch import Tensor, nn

from manyheads.attention.cache import RecentCache
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.norms import Normalization
from manyheads.models.decoder_only import DecoderOnly
from manyheads.models.interface import Decoded, Memory, Places, RememberingLanguageModel
from manyheads.models.language_model import LanguageModelLayer, TextState
from manyheads.models.parts import make_feed_forward, normalization
from manyheads.positions.relative_sinusoidal import RelativeSinusoids

MEMORY = "memory"  # its name among what is carried from piece to piece


class TransformerXL(DecoderOnly, RememberingLanguageModel[TextState]):
    """The decoder-only Transformer with segment-level recurrence."""

    def __init__(
        self,
        embedding: Embedding,
        layers: Iterable[LanguageModelLayer],
        output: nn.Parameter,
        *,
        memory: int,
        normalization: Normalization,
    ) -> None:
        super().__init__(embedding, layers, output, normalization=normalization)
        self.memory = memory

    @classmethod
    def from_settings(cls, settings: TransformerXLSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        vectors = token_vectors(vocabulary, settings.width)
        output = vectors if settings.tie else token_vectors(vocabulary, settings.width)
        layers = (_layer(settings) for _ in range(settings.layers))
        embedding = Embedding(vectors, None, dropout=settings.dropout)
        return cls(embedding, layers, output, memory=settings.memory, normalization=normalization(settings))

    def decode_piece(self, tokens: Tensor, memory: Memory | None = None) -> tuple[Decoded, Memory]:
        """Return hidden states [B, T, D] of a piece of text [B, T], and the memory of it and of what was before it."""
        states, kept = self.embedding(tokens), []
        for number, layer in enumerate(self._layers()):
            before = None if memory is None else memory[MEMORY][:, number]
            kept.append(self._recent(before, states))
            states = layer(states, memory=before, reach=self.memory)
        return Decoded(self.final_norm(states)), {MEMORY: torch.stack(kept, dim=1)}

    def places(self, length: int, memory: Memory | None = None) -> Places:
        """Return where the keys are that every layer has when it reads a piece of `length` tokens after a memory."""
        known = 0 if memory is None else memory[MEMORY].shape[2]
        positions = torch.arange(-known, length)
        return Places(positions, torch.zeros_like(positions, dtype=torch.bool))

    def _recent(self, before: Tensor | None, states: Tensor) -> Tensor:
        """Return the last M of what a layer has read [B, M, D]; no gradient goes through it."""
        both = states if before is None else torch.cat((before.to(states.dtype), states), dim=1)
        return both[:, max(0, both.shape[1] - self.memory) :].detach()

    def begin(self, context: int) -> TextState:
        """Return the state before the first token of `context` rows."""
        return TextState(0, [RecentCache(self.memory) for _ in self.layers], context)

    def step(self, tokens: Tensor, state: TextState) -> tuple[Tensor, TextState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        states = self.embedding(tokens[:, None])
        for layer, cache in zip(self._layers(), state.caches, strict=True):
            states = layer(states, cache)
        return self.logits(self.final_norm(states))[:, 0], replace(state, position=state.position + 1)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the projections, the sinusoids', the feed-forward networks, and of queries with keys."""
        keys = self.memory + target
        total = 0
        for layer in self._layers():
            width = layer.self_attention.width
            projections = (2 * width**2) * target + (2 * width**2) * keys  # queries and outputs; keys and values
            compared = 3 * width * target * keys  # with keys, with sinusoids, and for the average of the values
            total += projections + compared + target * layer.feed_forward.multiplications
        return rows * total

    def _layers(self) -> list[LanguageModelLayer]:
        return cast(list[LanguageModelLayer], list(self.layers))


def _layer(settings: TransformerXLSettings) -> LanguageModelLayer:
    """Return one layer."""
    attention = MultiHeadAttention(
        settings.width,
        settings.heads,
        bias=settings.biases,
        mechanism=DotProductAttention(dropout=settings.attention_dropout),
        positions=RelativeSinusoids(settings.width, settings.heads),
    )
    return LanguageModelLayer(
        attention, make_feed_forward(settings), dropout=settings.dropout, normalization=normalization(settings)
    )
