"""The three uses of attention (section 3.2.3 of the paper), and their module names in a model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from torch import nn

from manyheads.attention.observer import Observable
from manyheads.errors import ManyheadsError

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


def require_attention(model: nn.Module) -> dict[Kind, list[str]]:
    """Return the module names of a model's attentions; raise an error if it has none, as a ByteNet."""
    names = attention_names(model)
    if not any(names.values()):
        raise ManyheadsError(
            "this model has no attention, so there are no weights to look at.",
            cure="Its search can be shown: --show beam.",
        )
    return names


def main_kind(kinds: Collection[Kind]) -> Kind:
    """Return the kind that is shown first, of those that a model has: what a translation sees of its source, if any."""
    return "cross" if "cross" in kinds else next(iter(kinds))
