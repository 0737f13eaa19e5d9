"""The three uses of attention (section 3.2.3 of the paper), and where a model has them."""

from __future__ import annotations

from typing import Literal

from torch import nn

from manyheads.attention.observer import Observable

Kind = Literal["encoder", "decoder", "cross"]
"""Self-attention of the encoder, masked self-attention of the decoder, and what the decoder sees of the source."""

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")

_USES: dict[str, Kind] = {"self_attention": "decoder", "cross_attention": "cross"}  # by the name of a part


def attention_names(model: nn.Module) -> dict[Kind, list[str]]:
    """Return the names of a model's attentions of each kind, from the lowest layer to the highest."""
    names: dict[Kind, list[str]] = {"encoder": [], "decoder": [], "cross": []}
    for name, part in model.named_modules():
        if isinstance(part, Observable):
            names[_USES.get(name.rpartition(".")[2], "encoder")].append(name)
    return names
