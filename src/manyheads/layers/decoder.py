"""The decoder stack, section 3.1 and the right half of figure 1.

N layers of masked self-attention, attention over the encoder's output, and feed-forward. Each layer projects the
encoder's output to its own keys and values, once per source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.gated_feed_forward import AnyFeedForward
from manyheads.layers.norms import PAPER, Normalization


class DecoderLayer(nn.Module):
    """Masked self-attention, encoder–decoder attention, feed-forward, each inside Add & Norm."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: AnyFeedForward,
        *,
        dropout: float,
        normalization: Normalization = PAPER,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        width = self_attention.width
        self.self_attention_norm = AddNorm(width, dropout=dropout, normalization=normalization)
        self.cross_attention_norm = AddNorm(width, dropout=dropout, normalization=normalization)
        self.feed_forward_norm = AddNorm(width, dropout=dropout, normalization=normalization)

    def forward(
        self, states: Tensor, mask: Mask, memory: KeysValues, memory_mask: Mask, cache: Cache | None = None
    ) -> Tensor:
        """Return new states [B, T, D] for states [B, T, D], which attend to their past, the cache and the memory."""
        states = self.self_attention_norm(states, lambda x: self.self_attention(x, mask, cache))
        states = self.cross_attention_norm(states, lambda x: self.cross_attention.across(x, memory, memory_mask))
        return self.feed_forward_norm(states, self.feed_forward)


class Decoder(nn.Module):
    """A stack of decoder layers; with pre-norm, a final norm follows."""

    def __init__(self, layers: Iterable[DecoderLayer], *, width: int, normalization: Normalization = PAPER) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = normalization.final_norm(width)

    def keys_values(self, memory: Tensor) -> list[KeysValues]:
        """Project the encoder's output [B, S, D] to the keys and values of every layer's cross-attention."""
        return [layer.cross_attention.keys_values(memory) for layer in self._layers()]

    def forward(
        self,
        states: Tensor,
        mask: Mask,
        memory: Sequence[KeysValues],
        memory_mask: Mask,
        caches: Sequence[Cache] | None = None,
    ) -> Tensor:
        """Return hidden states [B, T, D] for embedded tokens [B, T, D]; each layer has its own memory and cache."""
        for index, layer in enumerate(self.layers):
            cache = None if caches is None else caches[index]
            states = layer(states, mask, memory[index], memory_mask, cache)
        return self.final_norm(states)

    def multiplications(self, source: int, target: int) -> int:
        """Return the multiplications for one row of `target` positions that attends to `source` ones.

        Attention over the encoder's output has its keys and values per source position, the rest per target position.
        Self-attention counts as a full square, though a kernel may skip the future.
        """
        total = 0
        for layer in self._layers():
            width = layer.self_attention.width
            queries = 6 * width**2 + layer.feed_forward.multiplications + 2 * width * (source + target)
            total += source * 2 * width**2 + target * queries
        return total

    def new_caches(self) -> list[Cache]:
        """Return an empty cache for each layer."""
        return [layer.self_attention.new_cache() for layer in self._layers()]

    def _layers(self) -> list[DecoderLayer]:
        """Return the layers with their type, which `nn.ModuleList` does not keep."""
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]
