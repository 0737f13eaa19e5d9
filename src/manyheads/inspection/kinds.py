"""The three uses of attention (section 3.2.3 of the paper), and their module names in a model."""

from __future__ import annotations

from typing import Literal

from torch import nn

from manyheads.attention.observer import Observable

Kind = Literal["encoder", "decoder", "cross"]
"""Self-attention of the encoder, masked self-attention of the decoder, and encoder–decoder attention."""

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")

_USES: dict[str, Kind] = {"self_attention": "decoder", "cross_attention": "cross"}  # by the name of a part


def attention_names(model: nn.Module) -> dict[Kind, list[str]]:
    """Return the module names of a model's attentions of each kind, from the first layer to the last."""
    names: dict[Kind, list[str]] = {"encoder": [], "decoder": [], "cross": []}
    for name, part in model.named_modules():
        if isinstance(part, Observable):
            names[_USES.get(name.rpartition(".")[2], "encoder")].append(name)
    return names
