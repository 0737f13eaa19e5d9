"""A recurrent encoder–decoder with attention (Bahdanau et al. 2015, Luong et al. 2015): what the Transformer replaced.

    h_j = [LSTM→(x_1 … x_j); LSTM←(x_S … x_j)]                    the encoder reads in both directions
    s_t = LSTM(y_t, s_(t−1))                                       the decoder has one state for all of its past
    α_tj = softmax_j(s_tᵀ·W_a·h_j)        c_t = Σ_j α_tj·h_j       attention over the source
    o_t = tanh(W_c·[c_t; s_t])

Position t waits for position t − 1, so a sequence of n tokens takes n steps one after the other, where self-attention
takes one. Without attention, all that the decoder has of the source is its first state s_0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.observer import Observable
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.layers.dropout import Dropout
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens


@dataclass(frozen=True)
class RecurrentMemory:
    """What the encoder makes of a source: states [B, S, D], which of them are real [B, S], and a summary [B, D]."""

    states: Tensor
    valid: Tensor
    summary: Tensor


@dataclass(frozen=True)
class RecurrentState:
    """Where decoding stands: the hidden and cell states of every layer [B, L, D], and the source."""

    hidden: Tensor
    cell: Tensor
    memory: RecurrentMemory

    def __len__(self) -> int:
        return len(self.hidden)

    def select(self, rows: Tensor) -> RecurrentState:
        """Return the given rows of the batch [M], in that order."""
        memory = self.memory
        chosen = RecurrentMemory(memory.states[rows], memory.valid[rows], memory.summary[rows])
        return RecurrentState(self.hidden[rows], self.cell[rows], chosen)


class BidirectionalLSTM(nn.Module):
    """One encoder layer: two LSTMs of half the width, one from the left and one from the right."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.rightward = _lstm(width, width // 2)
        self.leftward = _lstm(width, width // 2)

    def forward(self, inputs: Tensor, reversal: Tensor) -> Tensor:
        """Return [B, S, D] for inputs [B, S, D]; `reversal` [B, S] turns the real part of each row around."""
        rightward, _ = self.rightward(inputs)
        leftward, _ = self.leftward(_reordered(inputs, reversal))
        return torch.cat((rightward, _reordered(leftward, reversal)), dim=-1)


class SourceAttention(Observable):
    """Attention of decoder states over encoder states: softmax(s·W_a·hᵀ)·h."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, queries: Tensor, memory: RecurrentMemory) -> Tensor:
        """Return the contexts [B, T, D] of decoder states [B, T, D]."""
        scores = queries @ self.weight @ memory.states.transpose(1, 2)  # [B, T, S]
        weights = scores.masked_fill(~memory.valid[:, None], -torch.inf).softmax(dim=-1)
        if self.observer is not None:
            self.observer(weights[:, None])  # as one head
        return weights @ memory.states


class Recurrent(SequenceToSequence[RecurrentMemory, RecurrentState]):
    """The recurrent encoder–decoder with attention."""

    def __init__(
        self, *, source: Embedding, target: Embedding, output: nn.Parameter, encoder_layers: int, decoder_layers: int
    ) -> None:
        super().__init__()
        width = output.shape[1]
        self.source, self.target, self.output = source, target, output
        self.encoder = nn.ModuleList(BidirectionalLSTM(width) for _ in range(encoder_layers))
        self.bridge = nn.Linear(width, 2 * decoder_layers * width)  # to the decoder's first states
        self.decoder = nn.ModuleList(_lstm(width, width) for _ in range(decoder_layers))
        self.cross_attention = SourceAttention(width)
        self.combine = nn.Linear(2 * width, width)
        self.dropout = Dropout(source.dropout.probability)

    @classmethod
    def from_settings(cls, settings: RecurrentSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        target = token_vectors(target_vocabulary, settings.width)
        source = target if settings.tie == "all" else token_vectors(source_vocabulary, settings.width)
        output = token_vectors(target_vocabulary, settings.width) if settings.tie == "none" else target
        return cls(
            source=Embedding(source, None, dropout=settings.dropout),
            target=Embedding(target, None, dropout=settings.dropout),
            output=output,
            encoder_layers=settings.encoder_layers,
            decoder_layers=settings.decoder_layers,
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    def encode(self, source: Tokens) -> RecurrentMemory:
        """Read source tokens [B, S] in both directions."""
        length = source.ids.shape[1]
        valid = Mask.padding(source.lengths, length).valid
        assert valid is not None
        positions = torch.arange(length, device=source.ids.device)
        reversal = torch.where(valid, source.lengths[:, None] - 1 - positions, positions)
        states = self.source(source.ids)
        for layer in self.encoder:
            states = self.dropout(layer(states, reversal))
        # The last state of each direction: from the left at the end, from the right at the beginning.
        last = states.gather(1, (source.lengths - 1)[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
        half = states.shape[2] // 2
        return RecurrentMemory(states, valid, torch.cat((last[:, :half], states[:, 0, half:]), dim=-1))

    def decode(self, target: Tensor, memory: RecurrentMemory) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T]."""
        hidden, _ = self._read(self.target(target), self.begin(memory))
        return Decoded(hidden)

    def begin(self, context: RecurrentMemory) -> RecurrentState:
        """Return the decoder's first states, which follow from the summary of the source."""
        states = self.bridge(context.summary).view(len(context.summary), 2, len(self.decoder), -1)
        return RecurrentState(torch.tanh(states[:, 0]), states[:, 1], context)

    def step(self, tokens: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        hidden, state = self._read(self.target(tokens[:, None]), state)
        return self.logits(hidden)[:, 0], state

    def _read(self, embedded: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """Read embedded tokens [B, T, D]; return what the output layer gets [B, T, D] and the state after them."""
        states, hidden, cells = embedded, [], []
        for number, layer in enumerate(self.decoder):
            first = state.hidden[:, number][None].contiguous(), state.cell[:, number][None].contiguous()
            states, (last, cell) = layer(states, first)
            states = self.dropout(states)
            hidden.append(last[0])
            cells.append(cell[0])
        contexts = self.cross_attention(states, state.memory)
        outputs = self.dropout(torch.tanh(self.combine(torch.cat((contexts, states), dim=-1))))
        return outputs, RecurrentState(torch.stack(hidden, dim=1), torch.stack(cells, dim=1), state.memory)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the gates (4·D² for inputs and states each), of the attention and of the layer behind it."""
        width = self.output.shape[1]
        read = len(self.encoder) * 2 * 4 * (width // 2) * (width + width // 2)
        written = len(self.decoder) * 8 * width**2 + width**2 + 2 * source * width + 2 * width**2
        return rows * (source * read + target * written + self.bridge.weight.numel())


def _lstm(inputs: int, width: int) -> nn.LSTM:
    """Return one layer whose forget gates are open at first, so that gradients reach far back."""
    layer = nn.LSTM(inputs, width, batch_first=True)
    biases = dict(layer.named_parameters())
    with torch.no_grad():
        biases["bias_ih_l0"][width : 2 * width].fill_(1.0)
        biases["bias_hh_l0"][width : 2 * width].fill_(0.0)
    return layer


def _reordered(states: Tensor, order: Tensor) -> Tensor:
    """Return states [B, S, D] of each row in the order [B, S]."""
    return states.gather(1, order[:, :, None].expand_as(states))
