"""Recurrent layers: a cell that reads a whole sequence, in one direction or in both.

    h_t = cell(x_t, h_(t−1))                              one direction
    h_j = [cell→(x_1 … x_j); cell←(x_S … x_j)]            both (Schuster and Paliwal 1997), each of half the width

A cell is written out (`layers/cells.py`) or fused, which is PyTorch's layer. Parameters and numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

import torch
from torch import Tensor, nn

from manyheads.layers.cells import GRU, LSTM, RNN, Cell, State
from manyheads.layers.dropout import Dropout

CellKind = Literal["rnn", "gru", "lstm"]
AnyCell = Cell | nn.RNNBase

_WRITTEN_OUT: dict[CellKind, type[Cell]] = {"rnn": RNN, "gru": GRU, "lstm": LSTM}
_FUSED: dict[CellKind, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
STATES: dict[CellKind, int] = {"rnn": 1, "gru": 1, "lstm": 2}
"""The number of tensors in the state of a cell."""


def make_cell(kind: CellKind, inputs: int, width: int, *, fused: bool) -> AnyCell:
    """Return a cell with initial weights from which it trains well.

    The forget gates of an LSTM are open at first, so that gradients reach far back (Jozefowicz et al. 2015), and so are
    the update gates of a GRU. The recurrent matrices of a GRU and of a plain cell are orthogonal: they neither shrink
    nor stretch a gradient (Saxe et al. 2014). Those of an LSTM are uniform, as in PyTorch: its gradients go through c.
    """
    cell = _FUSED[kind](inputs, width, batch_first=True) if fused else _WRITTEN_OUT[kind](inputs, width)
    weights = dict(cell.named_parameters())
    with torch.no_grad():
        if kind != "rnn":  # the second block of rows is the forget gate of an LSTM and the update gate of a GRU
            weights["bias_ih_l0"][width : 2 * width].fill_(1.0)
            weights["bias_hh_l0"][width : 2 * width].fill_(0.0)
        if kind != "lstm":
            for block in weights["weight_hh_l0"].split(width):
                block.copy_(_orthogonal(block))
    return cell


def read(cell: AnyCell, inputs: Tensor, state: State | None = None, kept: Tensor | None = None) -> tuple[Tensor, State]:
    """Read inputs [B, T, D] from left to right; return the outputs [B, T, H] and the state after them.

    `kept` [B, H] is the mask of variational dropout, which only a cell that is written out can apply.
    """
    if not isinstance(cell, Cell):
        assert kept is None, "a fused cell cannot drop out recurrent connections"
        return _read_fused(cell, inputs, state)
    state = cell.initial(inputs) if state is None else state
    outputs = []
    for projected in cell.project(inputs).unbind(1):  # the inputs of all positions are projected at once
        state = cell.advance(projected, state, kept)
        outputs.append(state[0])
    return torch.stack(outputs, dim=1), state


def _read_fused(cell: nn.RNNBase, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
    """Read inputs [B, T, D] by PyTorch's layer, whose states have an axis of layers in front."""
    if state is None:
        outputs, after = cell(inputs)
    else:
        before = tuple(one[None].contiguous() for one in state)
        outputs, after = cell(inputs, before if len(before) > 1 else before[0])
    return outputs, tuple(one[0] for one in (after if isinstance(after, tuple) else (after,)))


class RecurrentDropout(Dropout):
    """Variational dropout: one mask for all positions of a sequence."""

    def mask(self, cell: AnyCell, like: Tensor) -> Tensor | None:
        """Return a mask [B, H] for the rows of a tensor [B, …] in training; None where nothing is dropped out."""
        if not self.training or self.probability == 0.0:
            return None
        return cast(Tensor, self(like.new_ones(len(like), width_of(cell))))


class OneDirection(nn.Module):
    """An encoder layer with one cell, which reads from left to right."""

    def __init__(self, rightward: AnyCell, *, recurrent_dropout: float = 0.0) -> None:
        super().__init__()
        self.rightward = rightward
        self.recurrent_dropout = RecurrentDropout(recurrent_dropout)

    def forward(self, inputs: Tensor, reversal: Tensor) -> Tensor:
        """Return [B, S, D] for inputs [B, S, D]."""
        outputs, _ = read(self.rightward, inputs, kept=self.recurrent_dropout.mask(self.rightward, inputs))
        return outputs


class BothDirections(OneDirection):
    """An encoder layer with two cells of half the width, one from the left and one from the right."""

    def __init__(self, rightward: AnyCell, leftward: AnyCell, *, recurrent_dropout: float = 0.0) -> None:
        super().__init__(rightward, recurrent_dropout=recurrent_dropout)
        self.leftward = leftward

    def forward(self, inputs: Tensor, reversal: Tensor) -> Tensor:
        """Return [B, S, D] for inputs [B, S, D]; `reversal` [B, S] turns the real part of each row around."""
        rightward = super().forward(inputs, reversal)
        kept = self.recurrent_dropout.mask(self.leftward, inputs)
        leftward, _ = read(self.leftward, reordered(inputs, reversal), kept=kept)
        return torch.cat((rightward, reordered(leftward, reversal)), dim=-1)


def reversed_positions(lengths: Tensor, size: int) -> Tensor:
    """Return, for rows of the given lengths [B], the positions [B, S] that turn the real part of each row around."""
    positions = torch.arange(size, device=lengths.device)
    return torch.where(positions < lengths[:, None], lengths[:, None] - 1 - positions, positions)


def reordered(states: Tensor, order: Tensor) -> Tensor:
    """Return states [B, S, D] of each row in the order [B, S]."""
    rows, size, width = states.shape
    first = size * torch.arange(rows, device=states.device)[:, None]
    return states.reshape(-1, width).index_select(0, (first + order).flatten()).view(rows, size, width)


def width_of(cell: AnyCell) -> int:
    """Return the width H of a cell's state."""
    return cell.width if isinstance(cell, Cell) else cell.hidden_size


def _orthogonal(like: Tensor) -> Tensor:
    """Return a random orthogonal matrix of the shape of a square one."""
    # Where models are built without initial weights, nothing is drawn: zeros then stay zeros, which have factors too.
    factor, triangle = torch.linalg.qr(torch.zeros_like(like).normal_())
    return factor * triangle.diagonal().sign()  # without the signs, not all orthogonal matrices are equally likely
