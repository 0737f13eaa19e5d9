"""The exponential moving average of the weights: smoother than any single update, and often better.

    average ← d·average + (1 − d)·weights        with d = min(decay, (1 + t) / (10 + t)) after t updates

The smaller d of the beginning forgets the random weights that training started from.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manyheads.runs.loading import copy_arrays, whole_arrays
from manyheads.runs.weights import Arrays


class MovingAverage:
    """Follows a model's parameters at a distance."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._followed = dict(model.named_parameters())
        self._average: dict[str, Tensor] = {name: one.detach().clone() for name, one in self._followed.items()}

    @torch.no_grad()
    def update(self, updates: int) -> None:
        """Move towards the parameters as they are after so many updates."""
        decay = min(self.decay, (1 + updates) / (10 + updates))
        torch._foreach_lerp_(list(self._average.values()), list(self._followed.values()), 1.0 - decay)

    def arrays(self) -> Arrays:
        """Return the average by parameter name."""
        return whole_arrays(self._average)

    def restore(self, arrays: Arrays, *, where: str) -> None:
        """Go on from an average that was saved."""
        copy_arrays(arrays, self._average, where=where)
