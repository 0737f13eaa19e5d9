"""Embeddings, section 3.4 of the paper, and what section 5.4 does with them.

Token vectors are multiplied by √d_model, the positions are added, and dropout is applied to the sum. The same matrix
can serve source, target and output ("tied three ways"), in which case it is drawn from N(0, 1/d_model) so that scaled
embeddings have unit variance and unscaled output weights keep logits small.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.layers.dropout import Dropout
from manyheads.positions.interface import AbsolutePositions
from manyheads.positions.randomised import sampled_in_order


def token_vectors(vocabulary: int, width: int) -> nn.Parameter:
    """Return an embedding matrix [V, D] drawn from N(0, 1/D)."""
    return nn.Parameter(torch.randn(vocabulary, width) * width**-0.5)


class Embedding(nn.Module):
    """Tokens to vectors with positions: Dropout(√d_model · E[token] + PE[position])."""

    def __init__(
        self, vectors: nn.Parameter, positions: AbsolutePositions | None, *, dropout: float, randomised: int = 0
    ) -> None:
        super().__init__()
        self.vectors = vectors  # [V, D]; the owner of the parameter may share it with others
        self.positions = positions
        self.randomised = randomised  # training draws from so many positions; 0: it counts like everybody
        self.dropout = Dropout(dropout)
        self.scale = math.sqrt(vectors.shape[1])

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Return [B, T, D] for token ids [B, T] that stand at the positions start, start + 1, …."""
        embedded = F.embedding(tokens, self.vectors) * self.scale
        if self.positions is not None:
            embedded = embedded + self._encodings(self.positions, start, tokens.shape[1])
        return self.dropout(embedded)

    def _encodings(self, positions: AbsolutePositions, start: int, count: int) -> Tensor:
        """Return the positions' vectors [T, D] of so many tokens, the first of which stands at `start`."""
        if self.training and self.randomised:
            return sampled_in_order(positions(0, self.randomised), count)
        return positions(start, start + count)
