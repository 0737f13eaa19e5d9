"""Normalisation over the width of one position, in the two kinds that are common today:

    LayerNorm(x) = γ·(x − μ)/√(σ² + ε) + β        Ba et al. 2016, the paper's
    RMSNorm(x)   = γ·x/√(mean(x²) + ε)            Zhang and Sennrich 2019: neither centred nor shifted

Unlike batch normalisation, neither depends on other sentences or on padding, and both are the same in training and
inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

NormKind = Literal["layer", "rms"]
NormOrder = Literal["post", "pre"]
EPSILON = 1e-5  # PyTorch's for LayerNorm; BERT has 1e-12


@dataclass(frozen=True)
class Normalization:
    """Which norm the layers of a stack have, and whether it comes after each residual sum or before each sublayer."""

    order: NormOrder = "post"
    kind: NormKind = "layer"
    epsilon: float = EPSILON

    def norm(self, width: int) -> nn.Module:
        """Return a new norm over vectors of a width."""
        return nn.RMSNorm(width, eps=self.epsilon) if self.kind == "rms" else nn.LayerNorm(width, eps=self.epsilon)

    def final_norm(self, width: int) -> nn.Module:
        """Return what follows the last layer of a stack: a norm with pre-norm, whose last sum is not normalised."""
        return self.norm(width) if self.order == "pre" else nn.Identity()


PAPER = Normalization()
