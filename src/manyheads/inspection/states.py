"""The stream through a model: what its embeddings and each of its layers hand on, for as long as somebody asks.

    with record_states(model) as states:
        model.decode(target, model.encode(source))
    states["encoder"]    # a list of [B, S, D]: the embeddings, then what each layer made of them

Every sublayer adds to this stream (`layers/add_norm.py`), so the norm of a position in it tells how much stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from manyheads.layers.decoder import Decoder, DecoderLayer
from manyheads.layers.encoder import Encoder, EncoderLayer

States = dict[str, list[Tensor]]
"""By stack ("encoder", "decoder"): one [B, T, D] that goes in, and one [B, T, D] that comes out of each layer."""


@contextmanager
def record_states(model: nn.Module) -> Iterator[States]:
    """Record what goes into the encoder and the decoder of a model, and what comes out of each of their layers."""
    states: States = {"encoder": [], "decoder": []}
    hooks = []
    for part in model.modules():
        stream = states["encoder" if isinstance(part, Encoder | EncoderLayer) else "decoder"]
        if isinstance(part, Encoder | Decoder):
            hooks.append(part.register_forward_pre_hook(_input_to(stream)))
        elif isinstance(part, EncoderLayer | DecoderLayer):
            hooks.append(part.register_forward_hook(_output_to(stream)))
    try:
        yield states
    finally:
        for hook in hooks:
            hook.remove()


def _input_to(stream: list[Tensor]) -> Callable[[nn.Module, tuple[Any, ...]], None]:
    """Return a hook that keeps the first thing a part is given."""
    return lambda _, inputs: stream.append(inputs[0].detach())


def _output_to(stream: list[Tensor]) -> Callable[[nn.Module, tuple[Any, ...], Tensor], None]:
    """Return a hook that keeps what a part gives."""
    return lambda _, inputs, output: stream.append(output.detach())
