"""The base class of modules whose attention weights can be recorded.

A module that computes attention derives from `Observable`. If it has an observer, it must call it with the weights of
each forward pass. If it has none, it may use a kernel that never holds the weights.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

Observer = Callable[[Tensor], None]
"""Receives the attention weights [B, H, T, S] of one call."""


class Observable(nn.Module):
    """A module that passes its attention weights to `observer`, which `record_attention` sets inside its block."""

    observer: Observer | None = None
