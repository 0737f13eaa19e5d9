"""The exponential moving average of the weights: smoother than any single update, and often better.

    average ← d·average + (1 − d)·weights        with d = min(decay, (1 + t) / (10 + t)) after t updates

The smaller d at the beginning removes the random weights that training started from.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manyheads.runs.loading import copy_arrays, stored_tensors, whole_arrays
from manyheads.runs.weights import Arrays


class MovingAverage:
    """The exponential moving average of a model's parameters."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._tensors = stored_tensors(model)
        self._average: dict[str, Tensor] = {name: tensor.detach().clone() for name, tensor in self._tensors.items()}
        self._learned = [name for name, tensor in self._tensors.items() if isinstance(tensor, nn.Parameter)]

    @torch.no_grad()
    def update(self, updates: int) -> None:
        """Move towards the present parameters, after the given number of updates; buffers are copied."""
        decay = min(self.decay, (1 + updates) / (10 + updates))
        averages = [self._average[name] for name in self._learned]
        torch._foreach_lerp_(averages, [self._tensors[name] for name in self._learned], 1.0 - decay)
        for name in self._tensors.keys() - set(self._learned):
            self._average[name].copy_(self._tensors[name])

    def arrays(self) -> Arrays:
        """Return the averaged tensors by name."""
        return whole_arrays(self._average)

    def restore(self, arrays: Arrays, *, where: str) -> None:
        """Continue from a saved average."""
        copy_arrays(arrays, self._average, where=where)
