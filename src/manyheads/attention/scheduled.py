"""The base class of modules that depend on the training step."""

from __future__ import annotations

from torch import nn


class Scheduled(nn.Module):
    """A module that gets the number of each training step before the step; what changes must follow from that alone."""

    def at_step(self, step: int) -> None:
        """Prepare for a training step, counted from 0."""
