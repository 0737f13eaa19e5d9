"""The three uses of attention (section 3.2.3 of the paper), and where a model has them."""

from __future__ import annotations

from typing import Literal

from torch import nn

from manyheads.layers.decoder import DecoderLayer
from manyheads.layers.encoder import EncoderLayer

Kind = Literal["encoder", "decoder", "cross"]
"""Self-attention of the encoder, masked self-attention of the decoder, and what the decoder sees of the source."""

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def attention_names(model: nn.Module) -> dict[Kind, list[str]]:
    """Return the names of a model's attentions of each kind, from the lowest layer to the highest."""
    names: dict[Kind, list[str]] = {"encoder": [], "decoder": [], "cross": []}
    for name, part in model.named_modules():
        if isinstance(part, EncoderLayer):
            names["encoder"].append(f"{name}.attention")
        elif isinstance(part, DecoderLayer):
            names["decoder"].append(f"{name}.self_attention")
            names["cross"].append(f"{name}.cross_attention")
    return names
