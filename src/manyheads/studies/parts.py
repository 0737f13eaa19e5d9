"""A Transformer without one of its parts, which no recipe offers: what is left shows what the part is worth.

scale           softmax(QKᵀ)·V
residuals       LayerNorm(Dropout(Sublayer(x)))
LayerNorm       x + Dropout(Sublayer(x))
feed-forward    layers of attention alone
positions       embeddings of tokens alone
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.decoder import DecoderLayer
from manyheads.layers.embedding import Embedding
from manyheads.layers.encoder import EncoderLayer
from manyheads.positions.interface import AttentionPositions

Part = Literal["scale", "residuals", "LayerNorm", "feed-forward", "positions"]


def remove(part: Part, model: nn.Module) -> None:
    """Take a part out of every layer of a model, of the encoder, the decoder or both."""
    for module in list(model.modules()):
        match part, module:
            case "scale", MultiHeadAttention():
                module.mechanism = Unscaled()
            case (("residuals" | "LayerNorm"), (EncoderLayer() | DecoderLayer())):
                for name, around in list(module.named_children()):
                    if isinstance(around, AddNorm):
                        setattr(module, name, Around(around, residual=part != "residuals", norm=part != "LayerNorm"))
            case "feed-forward", (EncoderLayer() | DecoderLayer()):
                for name in ("feed_forward", "feed_forward_norm"):
                    setattr(module, name, Nothing())
            case "positions", Embedding():
                module.positions = None


class Unscaled(DotProductAttention):
    """softmax(QKᵀ)·V."""

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weights [B, H, T, S] of queries that are multiplied by what the scores are divided by."""
        return super().weights(queries * math.sqrt(queries.shape[-1]), keys, mask, positions)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] by these weights."""
        return self.weights(queries, keys, mask, positions) @ values


class Around(nn.Module):
    """What is around a sublayer, without the residual connection or without the norm, which follows it."""

    def __init__(self, whole: AddNorm, *, residual: bool, norm: bool) -> None:
        super().__init__()
        assert whole.order == "post", "without the residual sum, a norm before the sublayer would be the whole path"
        self.norm = whole.norm if norm else nn.Identity()
        self.dropout = whole.dropout
        self.residual = residual

    def forward(self, inputs: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return states [B, T, D] for inputs [B, T, D]."""
        outputs = self.dropout(sublayer(inputs))
        normalised: Tensor = self.norm(inputs + outputs if self.residual else outputs)
        return normalised


class Nothing(nn.Module):
    """In place of a sublayer and of what is around it: the inputs as they are."""

    multiplications = 0

    def forward(self, inputs: Tensor, sublayer: nn.Module | None = None) -> Tensor:
        """Return the inputs [B, T, D]."""
        return inputs


class NarrowKeys(MultiHeadAttention):
    """Attention whose queries and keys have another width d_k than the values, d_v = d_model/h, as in Table 3 (B)."""

    def __init__(self, width: int, heads: int, key_width: int) -> None:
        super().__init__(width, heads)
        rows = heads * key_width
        self.rows = [rows, rows, width]  # of the projections to queries, keys and values
        self.inputs = nn.Parameter(self.inputs.new_empty(sum(self.rows), width))
        self.inputs_bias = nn.Parameter(self.inputs.new_zeros(sum(self.rows)))
        for projection in torch.split(self.inputs.detach(), self.rows):
            nn.init.xavier_uniform_(projection)

    def _project(self, inputs: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Apply the projections [first, last) to [B, T, D]; return [B, H, T, d_k or d_v] for each."""
        assert self.inputs_bias is not None
        rows = slice(sum(self.rows[:first]), sum(self.rows[:last]))
        projected = F.linear(inputs, self.inputs[rows], self.inputs_bias[rows])
        parts = torch.split(projected, self.rows[first:last], dim=-1)
        return tuple(part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in parts)


def narrow_keys(model: nn.Module, key_width: int) -> None:
    """Give every attention of a model, which must be the paper's, queries and keys of another width."""
    for module in list(model.modules()):
        for name, attention in list(module.named_children()):
            if isinstance(attention, MultiHeadAttention):
                setattr(module, name, NarrowKeys(attention.width, attention.heads, key_width))
