"""Embeddings, section 3.4 of the paper, with the dropout of section 5.4.

Token vectors are multiplied by √d_model, the positions are added, and dropout is applied to the sum. Source, target and
output may share one matrix (three-way tying). It is initialised from N(0, 1/d_model), so that scaled embeddings have
unit variance and unscaled output weights keep logits small.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.layers.dropout import Dropout
from manyheads.positions.interface import AbsolutePositions
from manyheads.positions.randomised import sampled_in_order


def token_vectors(vocabulary: int, width: int) -> nn.Parameter:
    """Return an embedding matrix [V, D] initialised from N(0, 1/D)."""
    return nn.Parameter(torch.randn(vocabulary, width) * width**-0.5)


def tied_vectors(
    source: int, target: int, width: int, *, tie: Literal["all", "target", "none"]
) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    """Return the embedding matrices of source and target, and the output layer's; tied ones are the same parameter."""
    of_target = token_vectors(target, width)
    of_source = of_target if tie == "all" else token_vectors(source, width)
    return of_source, of_target, token_vectors(target, width) if tie == "none" else of_target


class Embedding(nn.Module):
    """Tokens to vectors with positions: Dropout(√d_model · E[token] + PE[position])."""

    def __init__(
        self, vectors: nn.Parameter, positions: AbsolutePositions | None, *, dropout: float, randomised: int = 0
    ) -> None:
        super().__init__()
        self.vectors = vectors  # [V, D], possibly shared with other modules
        self.positions = positions
        self.randomised = randomised  # the number of positions to sample from in training; 0 for none
        self.dropout = Dropout(dropout)
        self.scale = math.sqrt(vectors.shape[1])

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Return [B, T, D] for token ids [B, T] at the positions start, start + 1, …."""
        embedded = F.embedding(tokens, self.vectors) * self.scale
        if self.positions is not None:
            embedded = embedded + self._encodings(self.positions, start, tokens.shape[1])
        return self.dropout(embedded)

    def _encodings(self, positions: AbsolutePositions, start: int, count: int) -> Tensor:
        """Return the vectors [T, D] of `count` positions from `start` on, or of random ones in training."""
        if self.training and self.randomised:
            return sampled_in_order(positions(0, self.randomised), count)
        return positions(start, start + count)
