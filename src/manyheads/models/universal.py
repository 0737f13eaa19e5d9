"""The Universal Transformer (Dehghani et al. 2019): encoder and decoder have one layer each, applied again and again.

    H_t = LayerNorm(A_t + Transition(A_t))        A_t = LayerNorm((H_(t−1) + P_t) + Attention(H_(t−1) + P_t))

The weights are the same at every step t, so depth no longer costs parameters, and each position can take as many steps
as it needs (`layers/depth.py`). In the decoder, a position reads the states that earlier positions have at the same
step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.universal import UniversalSettings
from manyheads.layers.decoder import DecoderLayer
from manyheads.layers.depth import DepthRecurrence
from manyheads.layers.embedding import Embedding, tied_vectors
from manyheads.layers.encoder import EncoderLayer
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens
from manyheads.models.parts import make_depth, make_feed_forward, make_self_attention, normalization


@dataclass(frozen=True)
class UniversalMemory:
    """What the encoder makes of a source: states [B, S, D], which are real, steps [B, S], and mean ponder costs [B]."""

    states: Tensor
    mask: Mask
    steps: Tensor
    ponder: Tensor


@dataclass(frozen=True)
class UniversalState:
    """Where decoding stands: the next position, the past at every step in depth, and the source.

    Every source has K hypotheses, which stand next to each other and share its keys and values.
    """

    position: int
    caches: list[Cache]
    memory: KeysValues
    mask: Mask
    hypotheses: int = 1

    def __len__(self) -> int:
        return len(self.memory.keys) * self.hypotheses

    def select(self, rows: Tensor) -> UniversalState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        sources = rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        caches = [cache.select(rows) for cache in self.caches]
        return replace(self, caches=caches, memory=self.memory.select(sources), mask=self.mask.select(sources))


class Universal(SequenceToSequence[UniversalMemory, UniversalState]):
    """The encoder–decoder with recurrence in depth."""

    def __init__(
        self,
        *,
        source: Embedding,
        target: Embedding,
        encoder: EncoderLayer,
        decoder: DecoderLayer,
        encoder_depth: DepthRecurrence,
        decoder_depth: DepthRecurrence,
        norms: tuple[nn.Module, nn.Module],
        output: nn.Parameter,
        ponder_cost: float = 0.0,
    ) -> None:
        super().__init__()
        self.source, self.target, self.output = source, target, output
        self.encoder, self.decoder = encoder, decoder
        self.encoder_depth, self.decoder_depth = encoder_depth, decoder_depth
        self.encoder_norm, self.decoder_norm = norms
        self.ponder_cost = ponder_cost

    @classmethod
    def from_settings(cls, settings: UniversalSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        width, kind = settings.width, normalization(settings)
        source, target, output = tied_vectors(source_vocabulary, target_vocabulary, width, tie=settings.tie)
        return cls(
            source=Embedding(source, None, dropout=settings.dropout),
            target=Embedding(target, None, dropout=settings.dropout),
            encoder=EncoderLayer(
                _self_attention(settings, causal=False),
                make_feed_forward(settings),
                dropout=settings.dropout,
                normalization=kind,
            ),
            decoder=DecoderLayer(
                _self_attention(settings, causal=True),
                _attention(settings),
                make_feed_forward(settings),
                dropout=settings.dropout,
                normalization=kind,
            ),
            encoder_depth=make_depth(settings),
            decoder_depth=make_depth(settings),
            norms=(kind.final_norm(width), kind.final_norm(width)),
            output=output,
            ponder_cost=0.0 if settings.halting is None else settings.halting.cost,
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    def encode(self, source: Tokens) -> UniversalMemory:
        """Read source tokens [B, S]."""
        mask = Mask.padding(source.lengths, source.ids.shape[1])
        found = self.encoder_depth(self.source(source.ids), lambda states, _: self.encoder(states, mask))
        assert mask.valid is not None
        ponder = (found.ponder * mask.valid).sum(dim=1) / source.lengths
        return UniversalMemory(self.encoder_norm(found.output), mask, found.steps, ponder)

    def decode(self, target: Tensor, memory: UniversalMemory) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T], and the ponder costs where positions halt.

        Those of a source are added to each of its target positions, as their mean, so that they weigh the same for
        sentences of any length.
        """
        source, past = self.decoder.cross_attention.keys_values(memory.states), Mask(causal=True)
        found = self.decoder_depth(
            self.target(target), lambda states, _: self.decoder(states, past, source, memory.mask)
        )
        penalty = None
        if self.decoder_depth.halting is not None:
            penalty = self.ponder_cost * (found.ponder + memory.ponder[:, None])
        return Decoded(self.decoder_norm(found.output), penalty)

    def begin(self, context: UniversalMemory) -> UniversalState:
        """Project the memory once for all steps to come; nothing is decoded yet."""
        return self.start(context)

    def start(self, context: UniversalMemory, hypotheses: int = 1) -> UniversalState:
        """Project the memory once, for all hypotheses of a source, which share it."""
        caches = [self.decoder.self_attention.new_cache() for _ in range(self.decoder_depth.steps)]
        memory = self.decoder.cross_attention.keys_values(context.states)
        return UniversalState(0, caches, memory, context.mask, hypotheses)

    def step(self, tokens: Tensor, state: UniversalState) -> tuple[Tensor, UniversalState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        past = Mask(causal=True)
        found = self.decoder_depth(
            self.target(tokens[:, None]),
            lambda states, number: self.decoder(states, past, state.memory, state.mask, state.caches[number]),
            start=state.position,
            all_steps=True,
        )
        logits = self.logits(self.decoder_norm(found.output))[:, 0]
        return logits, replace(state, position=state.position + 1)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of all steps: of the projections, the feed-forward networks, and of queries with keys."""
        width = self.output.shape[1]
        reading = source * (4 * width**2 + self.encoder.feed_forward.multiplications + 2 * width * source)
        inner = self.decoder.feed_forward.multiplications
        writing = target * (6 * width**2 + inner + 2 * width * (source + target))
        steps = self.encoder_depth.steps, self.decoder_depth.steps
        return rows * (steps[0] * reading + steps[1] * writing + source * 2 * width**2)


def _self_attention(settings: UniversalSettings, *, causal: bool) -> MultiHeadAttention:
    """Return the self-attention of the encoder or of the decoder."""
    return make_self_attention(
        DotProductSettings(dropout=settings.attention_dropout),
        settings.positions,
        width=settings.width,
        heads=settings.heads,
        seed=0,
        causal=causal,
        bias=settings.biases,
    )


def _attention(settings: UniversalSettings) -> MultiHeadAttention:
    """Return the attention over the encoder's output."""
    mechanism = DotProductAttention(dropout=settings.attention_dropout)
    return MultiHeadAttention(settings.width, settings.heads, bias=settings.biases, mechanism=mechanism)
