"""One-dimensional convolutions over the positions of a sequence, with a distance (dilation) r between their k taps.

    y_t = b + Σ_j W_j·x_(t − (k − 1 − j)·r)             causal: sees its own position and those before it
    y_t = b + Σ_j W_j·x_(t + (j − (k − 1)/2)·r)         centred: k is odd, and as much is seen on either side

Positions outside the sequence are zeros. A causal convolution that is given the last (k − 1)·r inputs continues where
it stopped, so one more position takes constant time.

States are [B, T, D] everywhere. A convolution library takes this layout, without any copy, as an image one pixel high
whose channels come last. On a processor that is as fast as `Conv1d` on [B, D, T], and faster than one product with all
taps side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Kernel:
    """Which positions a convolution sees: `width` of them, `dilation` apart. Weights are [outputs, width, inputs]."""

    width: int
    dilation: int = 1

    @property
    def span(self) -> int:
        """The number of positions between the first tap and the last."""
        return (self.width - 1) * self.dilation

    def centred(self, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return [B, T, outputs] for inputs [B, T, inputs]; each position sees both sides."""
        return self._convolve(inputs, weight, bias, padding=self.span // 2)

    def causal(self, inputs: Tensor, weight: Tensor, bias: Tensor, past: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return [B, T, outputs] for inputs [B, T, inputs], and the past [B, span, inputs] of the next position.

        `past` are the last `span` inputs before these; without it, the sequence begins here.
        """
        seen = F.pad(inputs, (0, 0, self.span, 0)) if past is None else torch.cat((past, inputs), dim=1)
        if inputs.shape[1] == 1:  # a decoding step is one product
            outputs = F.linear(seen[:, :: self.dilation].flatten(1), weight.flatten(1), bias)[:, None]
        else:
            outputs = self._convolve(seen, weight, bias, padding=0)
        return outputs, seen[:, inputs.shape[1] :]

    def beginning(self, rows: int, like: Tensor) -> Tensor:
        """Return the past before the first position: zeros [rows, span, D] of the type and width of `like` [..., D]."""
        return like.new_zeros(rows, self.span, like.shape[-1])

    def _convolve(self, inputs: Tensor, weight: Tensor, bias: Tensor, *, padding: int) -> Tensor:
        """Return [B, T + 2·padding − span, outputs] for inputs [B, T, inputs] with zeros on both sides."""
        image = inputs.transpose(1, 2).unsqueeze(2)  # [B, inputs, 1, T], channels last in memory
        taps = weight.transpose(1, 2).unsqueeze(2)  # [outputs, inputs, 1, k], likewise
        outputs = F.conv2d(image, taps, bias, padding=(0, padding), dilation=(1, self.dilation))
        return outputs.squeeze(2).transpose(1, 2)


def pointwise(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return [B, T, outputs] for inputs [B, T, inputs] and a weight [outputs, inputs]: a convolution of width 1.

    On a processor, the convolution library is faster than that of matrix products where there are many positions.
    """
    if inputs.device.type != "cpu" or inputs.shape[1] == 1:
        return F.linear(inputs, weight, bias)
    return Kernel(1).centred(inputs, weight[:, None], bias)


class NormalizedWeight(nn.Module):
    """Weight normalisation (Salimans and Kingma 2016): w = g·v/‖v‖ for each output, whose length is learned apart.

    At first v is drawn from N(0, deviation²) and g is its length, so that w = v.
    """

    def __init__(self, *shape: int, deviation: float) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(shape) * deviation)  # v [outputs, …]
        self.length = nn.Parameter(self.direction.detach().flatten(1).norm(dim=1))  # g [outputs]

    def forward(self) -> Tensor:
        """Return the weight, of the shape of v."""
        scale = self.length / self.direction.flatten(1).norm(dim=1)
        return self.direction * scale.view(-1, *[1] * (self.direction.dim() - 1))
