"""The recurrent encoder–decoder: what the Transformer replaced.

With attention (Bahdanau et al. 2015, Luong et al. 2015) the decoder looks at every state of the encoder:

    h_j = [cell→(x_1 … x_j); cell←(x_S … x_j)]                    the encoder reads in both directions
    s_t = cell(y_t, s_(t−1))                                       the decoder has one state for all of its past
    α_tj = softmax_j(score(s_t, h_j))      c_t = Σ_j α_tj·h_j      attention over the source
    o_t = tanh(W_c·[c_t; s_t])                                     the attentional vector, which predicts y_(t+1)
    s_t = cell([y_t; o_(t−1)], s_(t−1))                            with input feeding (Luong et al., section 3.3)

Without it (Cho et al. 2014, Sutskever et al. 2014) the source is one vector c, the last state of each direction. The
first state s_0 follows from it, and as in Cho et al. it is an input of every step and of every prediction:

    c = [h→_S; h←_1]        s_t = cell([y_t; c], s_(t−1))        o_t = tanh(W_c·[c; s_t])

Position t waits for position t − 1, so a sequence of n tokens takes n steps one after the other, where self-attention
takes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.source_attention import AdditiveAttention, DotAttention, GeneralAttention, SourceAttention
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.layers.cells import Cell, State
from manyheads.layers.dropout import Dropout
from manyheads.layers.embedding import Embedding, tied_vectors
from manyheads.layers.recurrence import (
    STATES,
    AnyCell,
    BothDirections,
    OneDirection,
    RecurrentDropout,
    make_cell,
    read,
    reordered,
    reversed_positions,
)
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens


@dataclass(frozen=True)
class RecurrentMemory:
    """What the encoder makes of a source.

    It has the states [B, S, D], the keys [B, S, D] that attention compares them by, which of them are real [B, S], and
    a summary [B, D], which is all that a decoder without attention uses.
    """

    states: Tensor
    keys: Tensor
    valid: Tensor
    summary: Tensor

    def select(self, rows: Tensor) -> RecurrentMemory:
        """Return the given rows of the batch [M], in that order."""
        return RecurrentMemory(self.states[rows], self.keys[rows], self.valid[rows], self.summary[rows])


@dataclass(frozen=True)
class RecurrentState:
    """Where decoding stands: the state of each layer, the last output if it is fed [N·K, D], and the source.

    Every source has K hypotheses, which stand next to each other and share its memory: layers have N·K rows and the
    memory has N.
    """

    layers: tuple[State, ...]
    fed: Tensor | None
    memory: RecurrentMemory
    hypotheses: int = 1

    def __len__(self) -> int:
        return len(self.layers[0][0])

    def select(self, rows: Tensor) -> RecurrentState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        memory, sources = self.memory, rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        if not torch.equal(sources, torch.arange(len(memory.summary), device=rows.device)):
            memory = memory.select(sources)
        layers = tuple(tuple(part[rows] for part in layer) for layer in self.layers)
        return replace(self, layers=layers, fed=None if self.fed is None else self.fed[rows], memory=memory)


class Recurrent(SequenceToSequence[RecurrentMemory, RecurrentState]):
    """The recurrent encoder–decoder, with attention or without."""

    def __init__(
        self,
        *,
        source: Embedding,
        target: Embedding,
        encoder: Iterable[OneDirection],
        bridge: nn.Linear,
        decoder: Iterable[AnyCell],
        attention: SourceAttention | None,
        output: nn.Parameter,
        input_feeding: bool = False,
        residual: bool = False,
        reverse_source: bool = False,
        recurrent_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        width = output.shape[1]
        self.source, self.target, self.output = source, target, output
        self.encoder = nn.ModuleList(encoder)
        self.bridge = bridge  # from the summary of a source to the first state of each layer of the decoder
        self.decoder = nn.ModuleList(decoder)
        self.cross_attention = attention
        self.combine = nn.Linear(2 * width, width)  # W_c
        self.dropout = Dropout(source.dropout.probability)
        self.recurrent_dropout = RecurrentDropout(recurrent_dropout)
        self.input_feeding, self.residual, self.reverse_source = input_feeding, residual, reverse_source

    @classmethod
    def from_settings(cls, settings: RecurrentSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        source, target, output = tied_vectors(source_vocabulary, target_vocabulary, settings.width, tie=settings.tie)
        # The order of the parts decides which of the random numbers each of them is drawn from.
        return cls(
            source=Embedding(source, None, dropout=settings.dropout),
            target=Embedding(target, None, dropout=settings.dropout),
            encoder=[_encoder_layer(settings) for _ in range(settings.encoder_layers)],
            bridge=nn.Linear(settings.width, STATES[settings.cell] * settings.decoder_layers * settings.width),
            decoder=_decoder_cells(settings),
            attention=_attention(settings),
            output=output,
            input_feeding=settings.input_feeding,
            residual=settings.residual,
            reverse_source=settings.reverse_source,
            recurrent_dropout=settings.recurrent_dropout,
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    def encode(self, source: Tokens) -> RecurrentMemory:
        """Read source tokens [B, S]; padding is behind what is read, in every direction."""
        length = source.ids.shape[1]
        valid = Mask.padding(source.lengths, length).valid
        assert valid is not None
        reversal = reversed_positions(source.lengths, length)
        states = self.source(source.ids)
        states = reordered(states, reversal) if self.reverse_source else states
        for number, layer in enumerate(self.encoder):
            states = self._above(states, self.dropout(layer(states, reversal)), number)
        summary = self._summary(states, source.lengths)
        states = reordered(states, reversal) if self.reverse_source else states
        keys = states if self.cross_attention is None else self.cross_attention.keys(states)
        return RecurrentMemory(states, keys, valid, summary)

    def decode(self, target: Tensor, memory: RecurrentMemory) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T]."""
        hidden, _ = self._read(self.target(target), self.begin(memory))
        return Decoded(hidden)

    def begin(self, context: RecurrentMemory) -> RecurrentState:
        """Return the decoder's first states, which follow from the summary of the source."""
        return self.start(context)

    def start(self, context: RecurrentMemory, hypotheses: int = 1) -> RecurrentState:
        """Return the decoder's first states, for all hypotheses of a source, which share its memory."""
        summary = context.summary
        if hypotheses > 1:
            summary = summary.repeat_interleave(hypotheses, dim=0)
        first = self.bridge(summary).view(len(summary), -1, len(self.decoder), summary.shape[1])
        hidden, cells = torch.tanh(first[:, 0]), first[:, 1:]  # an LSTM has a cell state too
        layers = tuple(
            (hidden[:, layer], *(cell[:, layer] for cell in cells.unbind(1))) for layer in range(len(self.decoder))
        )
        return RecurrentState(layers, torch.zeros_like(summary) if self.input_feeding else None, context, hypotheses)

    def step(self, tokens: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        hidden, state = self._read(self.target(tokens[:, None]), state)
        return self.logits(hidden)[:, 0], state

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the cells' matrices, of attention and of the layer behind it."""
        reading = sum(_matrices(cell) for cell in self.encoder.modules())
        writing = sum(_matrices(cell) for cell in self.decoder) + self.combine.weight.numel()
        attention = self.cross_attention
        looking = 0 if attention is None else attention.multiplications(self.output.shape[1], source, target)
        return rows * (source * reading + target * writing + looking + self.bridge.weight.numel())

    def _summary(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the last state of each direction [B, D]: from the left at the end, from the right at the beginning."""
        last = states.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
        if not isinstance(self.encoder[0], BothDirections):
            return last
        half = states.shape[2] // 2
        return torch.cat((last[:, :half], states[:, 0, half:]), dim=-1)

    def _above(self, inputs: Tensor, outputs: Tensor, number: int) -> Tensor:
        """Return what the layer above a layer reads; with residual connections the layer's own inputs are in it."""
        return inputs + outputs if self.residual and number else outputs

    def _read(self, embedded: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """Read embedded tokens [B, T, D]; return what the output layer gets [B, T, D] and the state after them."""
        kept = [self.recurrent_dropout.mask(cell, embedded) for cell in self._cells]
        if state.fed is not None:
            return self._read_fed(embedded, state.fed, state, kept)
        states, layers = embedded, []
        if self.cross_attention is None:
            states = torch.cat((embedded, self._fixed_context(embedded, state)), dim=-1)
        for number, cell in enumerate(self._cells):
            outputs, layer = read(cell, states, state.layers[number], kept[number])
            states = self._above(states, self.dropout(outputs), number)
            layers.append(layer)
        return self._attentional(states, state), replace(state, layers=tuple(layers))

    def _read_fed(
        self, embedded: Tensor, fed: Tensor, state: RecurrentState, kept: Sequence[Tensor | None]
    ) -> tuple[Tensor, RecurrentState]:
        """Read embedded tokens [B, T, D] one after another, each beside the last output [B, D]."""
        first, *others = cast(list[Cell], self._cells)
        of_token, of_fed = first.weight_ih_l0.split(embedded.shape[2], dim=1)
        outputs, layers = [], list(state.layers)
        for projected in F.linear(embedded, of_token, first.bias_ih_l0).unbind(1):  # of all positions at once
            layers[0] = first.advance(projected + F.linear(fed, of_fed), layers[0], kept[0])
            states = self.dropout(layers[0][0])
            for number, cell in enumerate(others, start=1):
                layers[number] = cell(states, layers[number], kept[number])
                states = self._above(states, self.dropout(layers[number][0]), number)
            fed = self._attentional(states[:, None], state)[:, 0]
            outputs.append(fed)
        return torch.stack(outputs, dim=1), replace(state, layers=tuple(layers), fed=fed)

    def _attentional(self, states: Tensor, state: RecurrentState) -> Tensor:
        """Return the vectors [B, T, D] from which the next tokens are predicted, for decoder states [B, T, D]."""
        memory = state.memory
        if self.cross_attention is None:
            contexts = self._fixed_context(states, state)
        else:
            contexts = self.cross_attention(states, memory.keys, memory.states, memory.valid)
        outputs: Tensor = self.dropout(torch.tanh(self.combine(torch.cat((contexts, states), dim=-1))))
        return outputs

    def _fixed_context(self, like: Tensor, state: RecurrentState) -> Tensor:
        """Return the summary of the source at every position [B, T, D]."""
        summary = state.memory.summary
        if state.hypotheses > 1:
            summary = summary.repeat_interleave(state.hypotheses, dim=0)
        return summary[:, None].expand_as(like)

    @property
    def _cells(self) -> list[AnyCell]:
        """The decoder's cells, from the first layer to the last."""
        return cast(list[AnyCell], list(self.decoder))


def _encoder_layer(settings: RecurrentSettings) -> OneDirection:
    """Return one layer of the encoder."""
    fused, dropout = settings.fused and not settings.recurrent_dropout, settings.recurrent_dropout
    if not settings.bidirectional:
        cell = make_cell(settings.cell, settings.width, settings.width, fused=fused)
        return OneDirection(cell, recurrent_dropout=dropout)
    rightward, leftward = (make_cell(settings.cell, settings.width, settings.width // 2, fused=fused) for _ in range(2))
    return BothDirections(rightward, leftward, recurrent_dropout=dropout)


def _decoder_cells(settings: RecurrentSettings) -> list[AnyCell]:
    """Return the decoder's cells; with input feeding each position waits for an output, so none can be fused."""
    fused = settings.fused and not settings.recurrent_dropout and not settings.input_feeding
    inputs = [settings.decoder_inputs, *[settings.width] * (settings.decoder_layers - 1)]
    return [make_cell(settings.cell, one, settings.width, fused=fused) for one in inputs]


def _attention(settings: RecurrentSettings) -> SourceAttention | None:
    """Return the attention over the source, if there is one."""
    match settings.source_attention:
        case "additive":
            return AdditiveAttention(settings.width)
        case "dot":
            return DotAttention()
        case "general":
            return GeneralAttention(settings.width)
    return None


def _matrices(module: nn.Module) -> int:
    """Return the number of weights in the matrices of a cell; no other module has any here."""
    if not isinstance(module, Cell | nn.RNNBase):
        return 0
    return cast(Tensor, module.weight_ih_l0).numel() + cast(Tensor, module.weight_hh_l0).numel()
