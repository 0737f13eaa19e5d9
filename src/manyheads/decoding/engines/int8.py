"""8-bit linear layers for the PyTorch engine.

A decoding step multiplies a few rows by every weight of the model, so its time is the time to read the weights.
8-bit weights take a quarter of that:

    W ≈ diag(s)·W₈        W₈[i, j] = round(W[i, j] / s[i]),  s[i] = max_j |W[i, j]| / 127         once, row by row
    W·x ≈ t·diag(s)·(W₈·x₈)                                  x₈ the inputs on 256 levels of width t, at every call

The range of the inputs is measured at every call, over all rows of the call. So the other sentences of a batch affect
the last digits of a sentence's scores. Older CPUs add 8-bit products in 16 bits; there, inputs have 7 bits.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from manyheads.processor import sums_bytes_safely


class Int8Linear(nn.Module):
    """A linear layer with 8-bit weights [R, C] and one scale per row."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        weight = weight.detach()
        scales = weight.abs().amax(dim=1).clamp(min=torch.finfo(weight.dtype).tiny) / 127
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():  # deprecated, but PyTorch itself has no replacement on CPUs yet
            warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*deprecated")
            rows = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self._seven_bits = not sums_bytes_safely()
        self._packed = torch.ops.quantized.linear_prepack(rows, None if bias is None else bias.detach())

    def forward(self, inputs: Tensor) -> Tensor:
        """Return [..., R] for inputs [..., C]."""
        outputs: Tensor = torch.ops.quantized.linear_dynamic.default(
            inputs, self._packed, reduce_range=self._seven_bits
        )
        return outputs
