"""8-bit linear layers for the torch engine.

A decoding step multiplies a few rows by every weight of the model, so it takes as long as reading the weights does.
With 8 bits each that is a quarter:

    W ≈ diag(s)·W₈        W₈[i, j] = round(W[i, j] / s[i]),  s[i] = max_j |W[i, j]| / 127         once, row by row
    W·x ≈ t·diag(s)·(W₈·x₈)                                  x₈ the inputs on 256 levels of width t, at every call

Inputs are measured anew at every call, over all its rows together, so in a batch a sentence's neighbours have a say in
the last digits of its scores. Older processors add products of 8 by 8 bits in 16; on those, inputs have 7 bits.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from manyheads.processor import sums_bytes_safely


class Int8Linear(nn.Module):
    """A linear layer whose weights [R, C] have 8 bits and a scale for each row."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        weight = weight.detach()
        scales = weight.abs().amax(dim=1).clamp(min=torch.finfo(weight.dtype).tiny) / 127
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():  # deprecated, though nothing of PyTorch's own replaces it on processors yet
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
