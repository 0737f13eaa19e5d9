"""Add & Norm, which wraps every sublayer (sections 3.1 and 5.4 of the paper):

    LayerNorm(x + Dropout(Sublayer(x)))          post-norm, as in the paper
    x + Dropout(Sublayer(LayerNorm(x)))          pre-norm, easier to train when deep

`norms` has the equation of LayerNorm, and RMSNorm, which may take its place.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from manyheads.layers.dropout import Dropout
from manyheads.layers.norms import PAPER, Normalization


class AddNorm(nn.Module):
    """A residual connection around a sublayer, normalised after the sum (post) or before the sublayer (pre)."""

    def __init__(self, width: int, *, dropout: float, normalization: Normalization = PAPER) -> None:
        super().__init__()
        self.norm = normalization.norm(width)
        self.dropout = Dropout(dropout)
        self.order = normalization.order

    def forward(self, inputs: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the sum [B, T, D] of the inputs [B, T, D] and the sublayer's output, normalised as `order` says."""
        if self.order == "pre":
            return inputs + self.dropout(sublayer(self.norm(inputs)))
        return self.norm(inputs + self.dropout(sublayer(inputs)))
