"""Looking at attention: every layer's and every head's weights, for exactly as long as somebody asks.

    with record_attention(model) as recording:
        model.decode(target, model.encode(source))
    recording["decoder.layers.0.cross_attention"]  # [B, H, T, S], every head, not averaged

Outside the block nothing is installed and the fused kernel runs; inside, each attention takes the exact path. A search
inside the block records the hypotheses it returns, and none of those that it gave up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from manyheads.attention.multi_head import MultiHeadAttention


class Recording(dict[str, Tensor]):
    """Attention weights [B, H, T, S] by the name of the attention inside the model.

    Calls that follow each other on the same batch, such as decoding steps, are joined along T; keys that one of them
    did not have get zeros.
    """

    def add(self, name: str, weights: Tensor) -> None:
        """Append the weights [B, H, T, S] of one more call of the attention called `name`."""
        weights = weights.detach()
        self[name] = _join(self[name], weights) if name in self else weights


def _join(earlier: Tensor, later: Tensor) -> Tensor:
    """Join two calls along the queries, with as many keys as the wider of them has."""
    keys = max(earlier.shape[-1], later.shape[-1])
    padded = [nn.functional.pad(one, (0, keys - one.shape[-1])) for one in (earlier, later)]
    return torch.cat(padded, dim=-2)


@contextmanager
def unobserved(model: nn.Module) -> Iterator[bool]:
    """Let nobody look while the block lasts; yield whether somebody is waiting to look again."""
    observers = {part: part.observer for part in model.modules() if isinstance(part, MultiHeadAttention)}
    try:
        for attention in observers:
            attention.observer = None
        yield any(observers.values())
    finally:
        for attention, observer in observers.items():
            attention.observer = observer


@contextmanager
def record_attention(model: nn.Module) -> Iterator[Recording]:
    """Record the weights of every attention inside `model` while the block lasts."""
    recording = Recording()
    found = {name: part for name, part in model.named_modules() if isinstance(part, MultiHeadAttention)}
    try:
        for name, attention in found.items():
            attention.observer = lambda weights, name=name: recording.add(name, weights)
        yield recording
    finally:
        for attention in found.values():
            attention.observer = None
