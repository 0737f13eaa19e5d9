"""Recurrence in depth (Universal Transformer, Dehghani et al. 2019): one layer is applied again and again.

    s_t = layer(s_(t−1) + P_t)        P_t = PE(position) + PE(t)        the step is encoded like a position

With adaptive computation (Graves 2016), each position decides when it has been computed for long enough:

    p_t = σ(w·(s_(t−1) + P_t) + b)                          the probability of halting at step t
    N = min { n : Σ_(t≤n) p_t > 1 − ε },  at most `steps`    the step at which it halts
    w_t = p_t for t < N,   w_N = R = 1 − Σ_(t<N) p_t         weights that sum to 1; R is the remainder
    output = Σ_t w_t·s_t                                    and N + R, the ponder cost, is added to the loss

A position that has halted keeps its state, which other positions go on reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from manyheads.positions.interface import AbsolutePositions
from manyheads.positions.sinusoidal import SinusoidalPositions

Step = Callable[[Tensor, int], Tensor]
"""From states [B, T, D] and the number of the step, counted from 0, to new states [B, T, D]."""


class Computed(NamedTuple):
    """The output of all steps [B, T, D], the steps N that each position took and its ponder cost N + R, [B, T] each."""

    output: Tensor
    steps: Tensor
    ponder: Tensor


class Halting(nn.Module):
    """The probability that a position halts."""

    def __init__(self, width: int, *, threshold: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 1)
        nn.init.ones_(self.linear.bias)  # so that few steps are taken at first
        self.threshold = threshold  # 1 − ε

    def forward(self, states: Tensor) -> Tensor:
        """Return p [B, T] for states [B, T, D]."""
        logits = self.linear(states)[..., 0]
        return torch.sigmoid(logits.to(_sum_type(logits)))


class DepthRecurrence(nn.Module):
    """Applies a step a fixed number of times, or at each position until it halts."""

    def __init__(
        self, width: int, *, steps: int, positions: AbsolutePositions | None, halting: Halting | None = None
    ) -> None:
        super().__init__()
        self.steps = steps
        self.positions = positions
        self.times = SinusoidalPositions(width, initial=steps)
        self.halting = halting

    def forward(self, states: Tensor, step: Step, *, start: int = 0, all_steps: bool = False) -> Computed:
        """Return what comes of states [B, T, D] at the positions start, start + 1, ….

        When all positions have halted, no more steps are taken, unless `all_steps` asks for them, as a cache does that
        later positions will read at every step.
        """
        if self.halting is None:
            for number in range(self.steps):
                states = step(self._located(states, number, start), number)
            count = states.new_full(states.shape[:2], self.steps)
            return Computed(states, count, count)
        total = states.new_zeros(states.shape[:2], dtype=_sum_type(states))  # Σ w of the steps so far
        output, ponder, taken = torch.zeros_like(states), total, total
        running = torch.ones_like(total, dtype=torch.bool)
        for number in range(self.steps):
            located = self._located(states, number, start)
            weight, halts = self._weights(self.halting(located), total, running, last=number == self.steps - 1)
            states = torch.where(running[..., None], step(located, number), states)
            output = output + weight[..., None].to(states.dtype) * states
            taken, ponder = taken + running, ponder + running + torch.where(halts, weight, 0.0)
            total, running = total + weight, running & ~halts
            if not (all_steps or running.is_meta or running.any()):  # on meta, where costs are counted, all steps are
                break
        return Computed(output, taken, ponder)

    def _located(self, states: Tensor, number: int, start: int) -> Tensor:
        """Return states [B, T, D] with P of their positions and of the step added."""
        located = states + self.times(number, number + 1)
        return located if self.positions is None else located + self.positions(start, start + states.shape[1])

    def _weights(self, probability: Tensor, total: Tensor, running: Tensor, *, last: bool) -> tuple[Tensor, Tensor]:
        """Return the weights w_t [B, T] of a step and which positions halt at it, given Σ w of the steps before."""
        assert self.halting is not None
        halts = running if last else running & (total + probability > self.halting.threshold)
        weight = torch.where(halts, 1.0 - total, probability)
        return torch.where(running, weight, 0.0), halts


def _sum_type(tensor: Tensor) -> torch.dtype:
    """Return the type of sums of probabilities, which need more digits than bfloat16 has."""
    return torch.promote_types(tensor.dtype, torch.float32)
