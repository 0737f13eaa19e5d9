"""A decoder-only Universal Transformer (Dehghani et al. 2019): one layer, applied again and again, continues a text.

    x = √d_model · E[tokens]
    H_t = layer(H_(t−1) + P_t)        P_t = PE(position) + PE(t)        masked self-attention and feed-forward
    logits = output(H) · Eᵀ

The number of steps is fixed, or each position halts by itself (`layers/depth.py`). A position reads the states that
earlier positions have at the same step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from torch import Tensor, nn

from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.universal_language_model import UniversalLanguageModelSettings
from manyheads.layers.depth import Computed, DepthRecurrence
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.norms import Normalization
from manyheads.models.decoder_only import DecoderOnly
from manyheads.models.interface import Decoded, LanguageModel
from manyheads.models.language_model import PIECE, LanguageModelLayer, TextState
from manyheads.models.parts import make_depth, make_feed_forward, make_self_attention, normalization


class UniversalLanguageModel(DecoderOnly, LanguageModel[TextState]):
    """The decoder-only Transformer with recurrence in depth; its state has a cache for each step."""

    def __init__(
        self,
        embedding: Embedding,
        layer: LanguageModelLayer,
        depth: DepthRecurrence,
        output: nn.Parameter,
        *,
        normalization: Normalization,
        ponder_cost: float = 0.0,
    ) -> None:
        super().__init__(embedding, [layer], output, normalization=normalization)
        self.depth = depth
        self.ponder_cost = ponder_cost

    @classmethod
    def from_settings(cls, settings: UniversalLanguageModelSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        vectors, kind = token_vectors(vocabulary, settings.width), normalization(settings)
        output = vectors if settings.tie else token_vectors(vocabulary, settings.width)
        attention = make_self_attention(
            DotProductSettings(dropout=settings.attention_dropout),
            settings.positions,
            width=settings.width,
            heads=settings.heads,
            seed=0,
            causal=True,
            bias=settings.biases,
        )
        layer = LanguageModelLayer(attention, make_feed_forward(settings), dropout=settings.dropout, normalization=kind)
        return cls(
            Embedding(vectors, None, dropout=settings.dropout),
            layer,
            make_depth(settings),
            output,
            normalization=kind,
            ponder_cost=0.0 if settings.halting is None else settings.halting.cost,
        )

    @property
    def layer(self) -> LanguageModelLayer:
        """The layer of all depths."""
        layer = self.layers[0]
        assert isinstance(layer, LanguageModelLayer)
        return layer

    def decode(self, tokens: Tensor) -> Decoded:
        """Return hidden states [B, T, D] of token ids [B, T], and the ponder costs where positions halt."""
        found = self.depth(self.embedding(tokens), lambda states, _: self.layer(states))
        penalty = None if self.depth.halting is None else self.ponder_cost * found.ponder
        return Decoded(self.final_norm(found.output), penalty)

    def begin(self, context: int) -> TextState:
        """Return the state before the first token of `context` rows."""
        return TextState(0, [self.layer.self_attention.new_cache() for _ in range(self.depth.steps)], context)

    def step(self, tokens: Tensor, state: TextState) -> tuple[Tensor, TextState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        found, state = self._extended(tokens[:, None], state)
        return self.logits(self.final_norm(found.output))[:, 0], state

    def read(self, tokens: Tensor, state: TextState) -> TextState:
        """Return the state after T more tokens per row [B, T], which are read in pieces."""
        for begin in range(0, tokens.shape[1], PIECE):
            _, state = self._extended(tokens[:, begin : begin + PIECE], state)
        return state

    def _extended(self, tokens: Tensor, state: TextState) -> tuple[Computed, TextState]:
        """Read T more tokens per row [B, T]; return what is computed of them and the state after them."""
        found: Computed = self.depth(
            self.embedding(tokens),
            lambda states, number: self.layer(states, state.caches[number]),
            start=state.position,
            all_steps=True,
        )
        return found, replace(state, position=state.position + tokens.shape[1])

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of all steps: of the projections, the feed-forward networks, and of queries with keys."""
        width = self.output.shape[1]
        step = 4 * width**2 + self.layer.feed_forward.multiplications + 2 * width * target
        return rows * target * self.depth.steps * step
