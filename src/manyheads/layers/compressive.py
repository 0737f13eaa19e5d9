"""A layer of the Compressive Transformer (Rae et al. 2019), which attends to a memory and to a compressed one.

h̃ = [ SG(cm) ∘ SG(m) ∘ h ]        AddNorm(attention to h̃), then AddNorm(feed-forward); SG stops gradients
m ← the last positions            cm ← cm, and f_c of each block of c positions that leaves m
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from manyheads.attention.cache import KeysValues
from manyheads.attention.compressive import CompressiveAttention, Reach
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.compression import Compression, CompressionLoss
from manyheads.layers.gated_feed_forward import AnyFeedForward
from manyheads.layers.norms import Normalization


@dataclass(frozen=True)
class LayerMemory:
    """What a layer remembers: its inputs at the last positions [B, R, D], which begin with a block, how much each of
    these was attended to [B, R], and older ones compressed [B, K, D].

    Their keys and values may be kept too, as long as the weights stay the same.
    """

    recent: Tensor
    usage: Tensor
    compressed: Tensor
    near: KeysValues | None = None
    far: KeysValues | None = None

    @classmethod
    def before(cls, states: Tensor) -> Self:
        """Return the memory at the beginning of a text, for states [B, T, D]."""
        nothing = states[:, :0].detach()
        return cls(nothing, nothing[..., 0], nothing)

    def select(self, rows: Tensor) -> LayerMemory:
        """Return the given rows [M], in that order."""
        near, far = (None if kept is None else kept.select(rows) for kept in (self.near, self.far))
        return LayerMemory(self.recent[rows], self.usage[rows], self.compressed[rows], near, far)


class Read(NamedTuple):
    """What a layer makes of a piece: states [B, T, D], its memory, and what is lost by compression [B, T]."""

    states: Tensor
    memory: LayerMemory
    lost: Tensor | None


class CompressiveLayer(nn.Module):
    """Attention to a piece and to both memories, then feed-forward, each inside Add & Norm."""

    def __init__(
        self,
        attention: CompressiveAttention,
        feed_forward: AnyFeedForward,
        compression: Compression,
        *,
        loss: CompressionLoss | None,
        dropout: float,
        normalization: Normalization,
    ) -> None:
        super().__init__()
        self.self_attention = attention
        self.feed_forward = feed_forward
        self.compression = compression
        self.compression_loss = loss
        self.attention_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)
        self.feed_forward_norm = AddNorm(attention.width, dropout=dropout, normalization=normalization)

    def forward(self, states: Tensor, memory: LayerMemory | None, reach: Reach) -> Read:
        """Return what the layer makes of states [B, T, D] that follow those it remembers."""
        before, found = memory or LayerMemory.before(states), []

        def attend(inputs: Tensor) -> Tensor:
            """Return what attention reads, and keep what goes with it."""
            read = self._attend(inputs, states, before, reach)
            found.append(read)
            return read.states

        after = self.feed_forward_norm(self.attention_norm(states, attend), self.feed_forward)
        return found[0]._replace(states=after)

    def _attend(self, inputs: Tensor, states: Tensor, memory: LayerMemory, reach: Reach) -> Read:
        """Return what attention reads for inputs [B, T, D], which are the layer's states [B, T, D] or their norms."""
        attention, known = self.self_attention, memory.recent.shape[1]
        recent = torch.cat((memory.recent.to(states.dtype), states.detach()), dim=1)
        positions, blocks = torch.arange(known, recent.shape[1], device=states.device), reach.blocks(recent.shape[1])
        queries, new = attention.project(inputs)
        near = (memory.near or self._keys_values(memory.recent)).followed_by(new)
        near_scores = attention.scores(queries, near.keys, reach.near(positions, recent.shape[1]))
        usage = self._usage(memory.usage, near_scores)
        compressed = self.compression(recent, usage, blocks)
        lost = self._lost(inputs, recent[:, : blocks * reach.rate], compressed)
        older = memory.compressed.shape[1]
        far = (memory.far or self._keys_values(memory.compressed)).followed_by(self._keys_values(compressed.detach()))
        far_scores = attention.scores(queries, far.keys, reach.far(positions, older, blocks))
        read = attention.read(torch.cat((near_scores, far_scores), dim=-1), near.followed_by(far).values)
        begin, drop = blocks * reach.rate, max(0, older + blocks - reach.compressed)
        return Read(
            read,
            LayerMemory(
                recent[:, begin:],
                usage[:, begin:],
                torch.cat((memory.compressed.to(states.dtype), compressed.detach()), dim=1)[:, drop:],
                near.since(begin),
                far.since(drop),
            ),
            lost,
        )

    def _keys_values(self, memory: Tensor) -> KeysValues:
        """Return the keys and values of what is remembered [B, S, D]."""
        return self.self_attention.keys_values(self._normalised(memory))

    def _normalised(self, memory: Tensor) -> Tensor:
        """Return what is remembered [B, S, D] as attention takes it."""
        return self.attention_norm.norm(memory) if self.attention_norm.order == "pre" else memory

    def _usage(self, before: Tensor, scores: Tensor) -> Tensor:
        """Return how much each position was attended to [B, S], with what scores [B, H, T, S] add to it."""
        usage = nn.functional.pad(before, (0, scores.shape[-1] - before.shape[1]))
        if not self.compression.by_usage:
            return usage
        # Among single positions alone, so that it does not depend on what is compressed.
        return usage + scores.detach().softmax(dim=-1).mean(dim=1).sum(dim=1)

    def _lost(self, inputs: Tensor, old: Tensor, compressed: Tensor) -> Tensor | None:
        """Return what is lost by compressing old memories [B, N·c, D] to [B, N, D] at each position [B, T]."""
        if self.compression_loss is None or not self.training:
            return None
        norm = self.attention_norm.norm if self.attention_norm.order == "pre" else nn.Identity()
        lost: Tensor = self.compression_loss(self.self_attention, norm, inputs, old, compressed)
        return lost
