"""Gated feed-forward network (Shazeer 2020, "GLU Variants Improve Transformer"):

    FFN(x) = (activation(x·W_g + b_g) ⊙ (x·W₁ + b₁))·W₂ + b₂

With swish it is SwiGLU, with gelu GeGLU, with relu ReGLU. It has three matrices where the plain network has two, so at
two thirds of the inner width it has as many parameters.
"""

from __future__ import annotations

from torch import Tensor, nn

from manyheads.layers.feed_forward import ACTIVATIONS, FeedForward, initialise_linear


class GatedFeedForward(nn.Module):
    """Two linear layers whose outputs are multiplied, one of them activated, and a third one behind them."""

    def __init__(self, width: int, inner: int, *, activation: str = "swish", bias: bool = True) -> None:
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=bias)
        self.widen = nn.Linear(width, inner, bias=bias)
        self.narrow = nn.Linear(inner, width, bias=bias)
        self.activation = ACTIVATIONS[activation]
        for layer in (self.gate, self.widen, self.narrow):
            initialise_linear(layer)

    @property
    def multiplications(self) -> int:
        """The multiplications at one position."""
        return sum(layer.weight.numel() for layer in (self.gate, self.widen, self.narrow))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return [B, T, D] for inputs [B, T, D]."""
        return self.narrow(self.activation(self.gate(inputs)) * self.widen(inputs))


AnyFeedForward = FeedForward | GatedFeedForward
