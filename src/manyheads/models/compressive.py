"""The Compressive Transformer (Rae et al. 2019), a Transformer-XL that compresses memories instead of forgetting them.

    layer n reads  [ cmⁿ ∘ mⁿ ∘ hⁿ⁻¹ ]        compressed memory, memory, and the piece itself
    cmⁿ            the last C of f_c(…), each computed from c positions that leave the memory

Which positions are compressed follows from the position of the reader alone (`attention/compressive`). So a long text
gives the same states in one piece or in many, and decoding keeps M + c − 1 positions and C compressed ones for each
layer and no more. With c = 1 this is a Transformer-XL with a memory of M + C positions.

No gradient goes through either memory. A compression that is learned (`layers/compression`) has a loss of its own,
whose gradient reaches nothing else. Its value is not part of the loss, which stays that of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self, cast

import torch
from torch import Tensor, nn

from manyheads.attention.compressive import CompressiveAttention, Reach
from manyheads.config.models.compressive import LEARNED, CompressiveSettings, check_rate
from manyheads.layers.compression import (
    AttentionReconstruction,
    AutoEncoding,
    Compression,
    CompressionLoss,
    ConvolutionCompression,
    MaxCompression,
    MeanCompression,
    MostUsed,
)
from manyheads.layers.compressive import CompressiveLayer, LayerMemory
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.norms import Normalization
from manyheads.models.decoder_only import DecoderOnly
from manyheads.models.interface import Decoded, Memory, Places, RememberingLanguageModel
from manyheads.models.parts import make_feed_forward, normalization
from manyheads.positions.relative_sinusoidal import RelativeSinusoids

PIECE = 256  # tokens of a prompt that are read at once: their weights over a long past take little memory
DILATION = 2  # positions from one place of a dilated convolution to the next
RECENT, COMPRESSED, USAGE = "memory", "compressed", "usage"  # names among what is carried from piece to piece


@dataclass(frozen=True)
class CompressiveState:
    """Where a text stands: what each layer remembers, and the number of rows."""

    memory: list[LayerMemory]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def select(self, rows: Tensor) -> CompressiveState:
        """Return the given rows [M], in that order."""
        return CompressiveState([memory.select(rows) for memory in self.memory], len(rows))


class CompressiveTransformer(DecoderOnly, RememberingLanguageModel[CompressiveState]):
    """The decoder-only Transformer with a memory and a compressed memory."""

    def __init__(
        self,
        embedding: Embedding,
        layers: Iterable[CompressiveLayer],
        output: nn.Parameter,
        *,
        reach: Reach,
        normalization: Normalization,
    ) -> None:
        super().__init__(embedding, layers, output, normalization=normalization)
        self.reach = reach

    @classmethod
    def from_settings(cls, settings: CompressiveSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        vectors = token_vectors(vocabulary, settings.width)
        output = vectors if settings.tie else token_vectors(vocabulary, settings.width)
        layers = (_layer(settings) for _ in range(settings.layers))
        embedding = Embedding(vectors, None, dropout=settings.dropout)
        reach = Reach(settings.memory, settings.compressed, settings.rate)
        return cls(embedding, layers, output, reach=reach, normalization=normalization(settings))

    @property
    def memory(self) -> int:
        """Earlier positions that are remembered as they are."""
        return self.reach.memory

    @memory.setter
    def memory(self, positions: int) -> None:
        """Remember another number of positions from now on."""
        check_rate(positions, self.reach.rate)
        self.reach = replace(self.reach, memory=positions)

    def decode_piece(self, tokens: Tensor, memory: Memory | None = None) -> tuple[Decoded, Memory]:
        """Return hidden states [B, T, D] of a piece of text [B, T], and the memory of it and of what was before it.

        The penalty of a compression that is learned is zero, and has its gradient.
        """
        hidden, after, penalty = self._read(tokens, None if memory is None else self._by_layer(memory))
        kept = {
            RECENT: torch.stack([layer.recent for layer in after], dim=1),
            USAGE: torch.stack([layer.usage for layer in after], dim=1),
            COMPRESSED: torch.stack([layer.compressed for layer in after], dim=1),
        }
        return Decoded(hidden, penalty), kept

    def places(self, length: int, memory: Memory | None = None) -> Places:
        """Return where the keys are that every layer has when it reads a piece of `length` tokens after a memory."""
        recent, older = (0 if memory is None else memory[name].shape[2] for name in (RECENT, COMPRESSED))
        blocks = torch.arange(-older, self.reach.blocks(recent + length))
        middles = blocks * self.reach.rate - recent + (self.reach.rate - 1) / 2
        compressed = torch.arange(recent + length + len(blocks)) >= recent + length
        return Places(torch.cat((torch.arange(-recent, length), middles)), compressed)

    def begin(self, context: int) -> CompressiveState:
        """Return the state before the first token of `context` rows."""
        return CompressiveState([], context)

    def step(self, tokens: Tensor, state: CompressiveState) -> tuple[Tensor, CompressiveState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        hidden, memory, _ = self._read(tokens[:, None], state.memory)
        return self.logits(hidden)[:, 0], replace(state, memory=memory)

    def read(self, tokens: Tensor, state: CompressiveState) -> CompressiveState:
        """Return the state after T more tokens per row [B, T], which are read in pieces."""
        for begin in range(0, tokens.shape[1], PIECE):
            state = replace(state, memory=self._read(tokens[:, begin : begin + PIECE], state.memory)[1])
        return state

    def _read(
        self, tokens: Tensor, memory: list[LayerMemory] | None
    ) -> tuple[Tensor, list[LayerMemory], Tensor | None]:
        """Return hidden states [B, T, D] of a piece [B, T], what each layer remembers after it, and the penalty."""
        states, after, lost = self.embedding(tokens), [], []
        for number, layer in enumerate(self._layers()):
            read = layer(states, memory[number] if memory else None, self.reach)
            states = read.states
            after.append(read.memory)
            lost.append(read.lost)
        return self.final_norm(states), after, _gradient_alone(lost)

    def _by_layer(self, memory: Memory) -> list[LayerMemory]:
        """Return what each layer remembers."""
        each = (memory[name].unbind(1) for name in (RECENT, USAGE, COMPRESSED))
        return [LayerMemory(*one) for one in zip(*each, strict=True)]

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the projections, the sinusoids', the feed-forward networks, and of queries with keys."""
        keys = self.reach.memory + self.reach.compressed + target
        total = 0
        for layer in self._layers():
            width = layer.self_attention.width
            projections = (2 * width**2) * target + (2 * width**2) * keys  # queries and outputs; keys and values
            compared = 3 * width * target * keys  # with keys, with sinusoids, and for the average of the values
            total += projections + compared + target * layer.feed_forward.multiplications
        return rows * total

    def _layers(self) -> list[CompressiveLayer]:
        """Return the layers."""
        return cast(list[CompressiveLayer], list(self.layers))


def _gradient_alone(lost: list[Tensor | None]) -> Tensor | None:
    """Return zeros [B, T] with the gradient of what the layers lose by compression; None if that is not learned."""
    losses = [one for one in lost if one is not None]
    if not losses:
        return None
    total = torch.stack(losses).sum(dim=0)
    return total - total.detach()


def _layer(settings: CompressiveSettings) -> CompressiveLayer:
    """Return one layer."""
    attention = CompressiveAttention(
        settings.width,
        settings.heads,
        bias=settings.biases,
        dropout=settings.attention_dropout,
        positions=RelativeSinusoids(settings.width, settings.heads),
    )
    return CompressiveLayer(
        attention,
        make_feed_forward(settings),
        _compression(settings),
        loss=_compression_loss(settings),
        dropout=settings.dropout,
        normalization=normalization(settings),
    )


def _compression(settings: CompressiveSettings) -> Compression:
    """Return what compresses the memories of a layer."""
    match settings.compression:
        case "mean":
            return MeanCompression(settings.rate)
        case "max":
            return MaxCompression(settings.rate)
        case "most_used":
            return MostUsed(settings.rate)
        case "convolution":
            return ConvolutionCompression(settings.rate, settings.width)
        case "dilated_convolution":
            return ConvolutionCompression(settings.rate, settings.width, dilation=DILATION)


def _compression_loss(settings: CompressiveSettings) -> CompressionLoss | None:
    """Return what the compression of a layer learns, if it does."""
    if settings.compression not in LEARNED:
        return None
    if settings.compression_loss == "attention":
        return AttentionReconstruction()
    return AutoEncoding(settings.rate, settings.width)
