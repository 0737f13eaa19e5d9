"""Recording the attention weights of every layer and head.

    with record_attention(model) as recording:
        model.decode(target, model.encode(source))
    recording["decoder.layers.0.cross_attention"]  # [B, H, T, S], every head, not averaged

Outside the block there are no observers, and fused kernels are used. Inside, each attention computes its weights. A
search inside the block records the hypotheses that it returns, not those that it discards. Blocks may be nested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from manyheads.attention.observer import Observable, Observer


class Recording(dict[str, Tensor]):
    """Attention weights [B, H, T, S] by the name of the attention module inside the model.

    Successive calls on the same batch, such as decoding steps, are concatenated along T. The weights of keys that an
    earlier call did not have are zero.
    """

    def add(self, name: str, weights: Tensor) -> None:
        """Append the weights [B, H, T, S] of one more call of the module called `name`."""
        weights = weights.detach()
        self[name] = _join(self[name], weights) if name in self else weights


def _join(earlier: Tensor, later: Tensor) -> Tensor:
    """Concatenate the weights of two calls along T, padded with zeros to the larger number of keys."""
    keys = max(earlier.shape[-1], later.shape[-1])
    padded = [nn.functional.pad(one, (0, keys - one.shape[-1])) for one in (earlier, later)]
    return torch.cat(padded, dim=-2)


@contextmanager
def record_attention(model: nn.Module, names: Collection[str] | None = None) -> Iterator[Recording]:
    """Record the weights of every observable module inside `model` during the block, or of those with these names.

    Blocks may be nested; each of them records.
    """
    recording = Recording()
    with _restored_observers(model) as parts:
        for name, part in parts.items():
            if names is None or name in names:
                part.observer = _recorder(recording, name, part.observer)
        yield recording


@contextmanager
def unobserved(model: nn.Module) -> Iterator[bool]:
    """Remove the observers inside `model` during the block; yield whether there were any."""
    with _restored_observers(model) as parts:
        observed = any(part.observer is not None for part in parts.values())
        for part in parts.values():
            part.observer = None
        yield observed


@contextmanager
def _restored_observers(model: nn.Module) -> Iterator[dict[str, Observable]]:
    """Yield the observable parts of `model` by name, and restore their observers after the block."""
    parts = {name: part for name, part in model.named_modules() if isinstance(part, Observable)}
    observers = {name: part.observer for name, part in parts.items()}
    try:
        yield parts
    finally:
        for name, part in parts.items():
            part.observer = observers[name]


def _recorder(recording: Recording, name: str, outer: Observer | None) -> Observer:
    """Return an observer that adds weights to the recording under a name and passes them on to the outer observer."""

    def observe(weights: Tensor) -> None:
        """Record the weights of one call."""
        recording.add(name, weights)
        if outer is not None:
            outer(weights)

    return observe
