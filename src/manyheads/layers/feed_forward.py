"""Position-wise feed-forward network, equation (2) of the paper:

    FFN(x) = max(0, x·W₁ + b₁)·W₂ + b₂

The same two layers are applied to each position separately. Without them, stacked attention would only average values.
"""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


def initialise_linear(layer: nn.Linear) -> None:
    """Initialise a layer with Glorot-uniform weights, and its bias, if it has one, with zero."""
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, applied at every position."""

    def __init__(self, width: int, inner: int, *, activation: str = "relu", bias: bool = True) -> None:
        super().__init__()
        self.widen = nn.Linear(width, inner, bias=bias)
        self.narrow = nn.Linear(inner, width, bias=bias)
        self.activation = ACTIVATIONS[activation]
        for layer in (self.widen, self.narrow):
            initialise_linear(layer)

    @property
    def multiplications(self) -> int:
        """The multiplications at one position."""
        return self.widen.weight.numel() + self.narrow.weight.numel()

    def forward(self, inputs: Tensor) -> Tensor:
        """Return [B, T, D] for inputs [B, T, D]."""
        return self.narrow(self.activation(self.widen(inputs)))
