"""The encoder stack, section 3.1 and the left half of figure 1: N layers of self-attention and feed-forward."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.gated_feed_forward import AnyFeedForward
from manyheads.layers.norms import PAPER, Normalization


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside Add & Norm."""

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: AnyFeedForward,
        *,
        dropout: float,
        normalization: Normalization = PAPER,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.attention_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)
        self.feed_forward_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)

    def forward(self, states: Tensor, mask: Mask) -> Tensor:
        """Return new states [B, S, D] for states [B, S, D]; no position attends to a masked one."""
        states = self.attention_norm(states, lambda x: self.attention(x, mask))
        return self.feed_forward_norm(states, self.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers; with pre-norm, whose last sum is not normalised, a final norm follows."""

    def __init__(self, layers: Iterable[EncoderLayer], *, width: int, normalization: Normalization = PAPER) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = normalization.final_norm(width)

    def forward(self, states: Tensor, mask: Mask) -> Tensor:
        """Return the memory [B, S, D] for embedded tokens [B, S, D]."""
        for layer in self.layers:
            states = layer(states, mask)
        return self.final_norm(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for one row of `length` positions.

        A position takes 4·D² in an attention and 2·D·F in a feed-forward network. Each query meets each key twice, in
        QKᵀ and in the average of the values: 2·D.
        """
        total = 0
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            width = layer.attention.width
            total += length * (4 * width**2 + layer.feed_forward.multiplications + 2 * width * length)
        return total
