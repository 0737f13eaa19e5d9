"""A plain loop around `torch.nn.Transformer`, as a good tutorial writes it: tied embeddings, causal hint.

Its dropouts of attention weights and inside the feed-forward network, which the recipe does not have, are off.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from worker import DROPOUT, FEED_FORWARD, HEADS, LAYERS, PAD, SMOOTHING, WIDTH


class Model(nn.Module):
    """Embeddings, positions, `nn.Transformer`, tied output layer."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, WIDTH)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.transformer = nn.Transformer(
            WIDTH, HEADS, LAYERS, LAYERS, FEED_FORWARD, DROPOUT, batch_first=True, norm_first=False
        )
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout = nn.Identity()  # the one inside the feed-forward network
        self.dropout = nn.Dropout(DROPOUT)
        position = torch.arange(512)[:, None] * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(512, WIDTH)
        table[:, 0::2], table[:, 1::2] = position.sin(), position.cos()
        self.register_buffer("table", table)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return scaled embeddings with positions."""
        return self.dropout(self.embedding(tokens) * math.sqrt(WIDTH) + self.table[: tokens.shape[1]])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits."""
        padding = source == PAD
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        hidden = self.transformer(
            self.embed(source),
            self.embed(target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return F.linear(hidden, self.embedding.weight)


class TorchLoop:
    """The model with PyTorch's own smoothed cross-entropy."""

    def __init__(self, vocabulary: int) -> None:
        self.model = Model(vocabulary)

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the label-smoothed loss per target token."""
        logits = self.model(batch["source"], batch["target_in"]).flatten(0, 1)
        return F.cross_entropy(logits, batch["target_out"].flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)

    def negative_log_likelihood(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the summed negative log-likelihood."""
        logits = self.model(batch["source"], batch["target_in"]).flatten(0, 1)
        return F.cross_entropy(logits, batch["target_out"].flatten(), ignore_index=PAD, reduction="sum")


def build(vocabulary: int) -> TorchLoop:
    """Return the contender."""
    return TorchLoop(vocabulary)
