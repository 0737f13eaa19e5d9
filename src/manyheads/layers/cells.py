"""Recurrent cells, equation by equation. Each has the parameters of PyTorch's layer of its name, in the same layout.

A cell reads the input x of one position and its state after the position before, and returns its state after this one.

    RNN     h' = tanh(W_x·x + b_x + W_h·h + b_h)                                       Elman 1990

    GRU     r  = σ(W_xr·x + b_xr + W_hr·h + b_hr)             the reset gate           Cho et al. 2014
            z  = σ(W_xz·x + b_xz + W_hz·h + b_hz)             the update gate
            n  = tanh(W_xn·x + b_xn + r ⊙ (W_hn·h + b_hn))    the candidate
            h' = (1 − z) ⊙ n + z ⊙ h

    LSTM    i  = σ(W_xi·x + b_xi + W_hi·h + b_hi)             the input gate           Hochreiter and Schmidhuber 1997
            f  = σ(W_xf·x + b_xf + W_hf·h + b_hf)             the forget gate          Gers et al. 2000
            g  = tanh(W_xg·x + b_xg + W_hg·h + b_hg)          the candidate
            o  = σ(W_xo·x + b_xo + W_ho·h + b_ho)             the output gate
            c' = f ⊙ c + i ⊙ g
            h' = o ⊙ tanh(c')

Cho et al. multiply by r before the product, W_hn·(r ⊙ h). As in PyTorch it comes after the product, so that all
products with h are one.

Variational dropout (Gal and Ghahramani 2016) replaces h in the products with W_h by m ⊙ h, with the same mask m at
every position of a sequence. The h that a GRU keeps, and the c of an LSTM, are not masked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

State = tuple[Tensor, ...]
"""The state of a cell: the hidden state h [B, H], which is its output, and the cell state c [B, H] of an LSTM."""


class Cell(nn.Module, ABC):
    """A recurrent layer, written out.

    A weight matrix has the rows of all gates, one block below the other, in the order of the equations:
    `weight_ih_l0` [G·H, D] is W_x, `weight_hh_l0` [G·H, H] is W_h, and the biases are [G·H].
    """

    blocks: ClassVar[int]  # G

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        rows, bound = self.blocks * width, width**-0.5
        self.weight_ih_l0 = nn.Parameter(torch.empty(rows, inputs).uniform_(-bound, bound))
        self.weight_hh_l0 = nn.Parameter(torch.empty(rows, width).uniform_(-bound, bound))
        self.bias_ih_l0 = nn.Parameter(torch.empty(rows).uniform_(-bound, bound))
        self.bias_hh_l0 = nn.Parameter(torch.empty(rows).uniform_(-bound, bound))

    def initial(self, like: Tensor) -> State:
        """Return the state before the first position, zeros, for the rows of a tensor [B, …]."""
        return (like.new_zeros(len(like), self.width),)

    def forward(self, inputs: Tensor, state: State, kept: Tensor | None = None) -> State:
        """Return the state after inputs [B, D]; `kept` [B, H] is the mask of variational dropout."""
        return self.advance(self.project(inputs), state, kept)

    def project(self, inputs: Tensor) -> Tensor:
        """Return W_x·x + b_x [B, …, G·H] of inputs [B, …, D]; all positions at once, since it needs no state."""
        return F.linear(inputs, self.weight_ih_l0, self.bias_ih_l0)

    def recall(self, hidden: Tensor, kept: Tensor | None) -> Tensor:
        """Return W_h·h + b_h [B, G·H] of a hidden state [B, H]."""
        return F.linear(hidden if kept is None else kept * hidden, self.weight_hh_l0, self.bias_hh_l0)

    @abstractmethod
    def advance(self, projected: Tensor, state: State, kept: Tensor | None = None) -> State:
        """Return the state after inputs that are projected already [B, G·H]."""


class RNN(Cell):
    """The plain recurrent layer, `nn.RNN`."""

    blocks = 1

    def advance(self, projected: Tensor, state: State, kept: Tensor | None = None) -> State:
        """Return h' = tanh(W_x·x + b_x + W_h·h + b_h)."""
        (hidden,) = state
        return ((projected + self.recall(hidden, kept)).tanh(),)


class GRU(Cell):
    """The gated recurrent unit, `nn.GRU`."""

    blocks = 3

    def advance(self, projected: Tensor, state: State, kept: Tensor | None = None) -> State:
        """Return h', which is between the candidate and h."""
        (hidden,) = state
        reset_x, update_x, candidate_x = projected.chunk(3, dim=-1)
        reset_h, update_h, candidate_h = self.recall(hidden, kept).chunk(3, dim=-1)
        reset = (reset_x + reset_h).sigmoid()
        update = (update_x + update_h).sigmoid()
        candidate = (candidate_x + reset * candidate_h).tanh()
        return ((1 - update) * candidate + update * hidden,)


class LSTM(Cell):
    """Long short-term memory, `nn.LSTM`."""

    blocks = 4

    def initial(self, like: Tensor) -> State:
        """Return the hidden and the cell state before the first position, zeros, for the rows of a tensor [B, …]."""
        return like.new_zeros(len(like), self.width), like.new_zeros(len(like), self.width)

    def advance(self, projected: Tensor, state: State, kept: Tensor | None = None) -> State:
        """Return h' and c'."""
        hidden, cell = state
        gates = projected + self.recall(hidden, kept)
        input_gate, forget_gate, candidate, output_gate = gates.chunk(4, dim=-1)
        cell = forget_gate.sigmoid() * cell + input_gate.sigmoid() * candidate.tanh()
        return output_gate.sigmoid() * cell.tanh(), cell
