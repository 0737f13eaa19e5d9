"""Add & Norm, which wraps every sublayer (sections 3.1 and 5.4 of the paper):

    LayerNorm(x + Dropout(Sublayer(x)))          post-norm, as in the paper
    x + Dropout(Sublayer(LayerNorm(x)))          pre-norm, easier to train when deep

LayerNorm(x) = γ·(x − μ)/√(σ² + ε) + β with μ and σ over the width of one position. Unlike batch normalisation it does
not depend on other sentences or on padding, and it is the same in training and inference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn

from manyheads.layers.dropout import Dropout

NormOrder = Literal["post", "pre"]
EPSILON = 1e-5  # PyTorch's; BERT has 1e-12


class AddNorm(nn.Module):
    """A residual connection around a sublayer, normalised after the sum (post) or before the sublayer (pre)."""

    def __init__(self, width: int, *, dropout: float, order: NormOrder = "post", epsilon: float = EPSILON) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = Dropout(dropout)
        self.order = order

    def forward(self, inputs: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the sum [B, T, D] of the inputs [B, T, D] and the sublayer's output, normalised as `order` says."""
        if self.order == "pre":
            return inputs + self.dropout(sublayer(self.norm(inputs)))
        return self.norm(inputs + self.dropout(sublayer(inputs)))
