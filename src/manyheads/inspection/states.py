"""The hidden states of a model: its embeddings and the output of each layer, recorded within a `with` block.

    with record_states(model) as states:
        model.decode(target, model.encode(source))
    states["encoder"]    # a list of [B, S, D]: the embeddings, then the output of each layer

Every sublayer adds its output to these states (`layers/add_norm.py`), so the norm of a state shows how much has been
accumulated at its position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from manyheads.layers.decoder import Decoder, DecoderLayer
from manyheads.layers.encoder import Encoder, EncoderLayer

States = dict[str, list[Tensor]]
"""For each stack ("encoder", "decoder"), its input [B, T, D] and the output [B, T, D] of each layer."""


@contextmanager
def record_states(model: nn.Module) -> Iterator[States]:
    """Record the inputs of a model's encoder and decoder, and the outputs of their layers, within the block."""
    states: States = {"encoder": [], "decoder": []}
    hooks = []
    for part in model.modules():
        recorded = states["encoder" if isinstance(part, Encoder | EncoderLayer) else "decoder"]
        if isinstance(part, Encoder | Decoder):
            hooks.append(part.register_forward_pre_hook(_record_input(recorded)))
        elif isinstance(part, EncoderLayer | DecoderLayer):
            hooks.append(part.register_forward_hook(_record_output(recorded)))
    try:
        yield states
    finally:
        for hook in hooks:
            hook.remove()


def _record_input(recorded: list[Tensor]) -> Callable[[nn.Module, tuple[Any, ...]], None]:
    """Return a hook that appends the first input of a module to a list."""
    return lambda _, inputs: recorded.append(inputs[0].detach())


def _record_output(recorded: list[Tensor]) -> Callable[[nn.Module, tuple[Any, ...], Tensor], None]:
    """Return a hook that appends the output of a module to a list."""
    return lambda _, inputs, output: recorded.append(output.detach())
