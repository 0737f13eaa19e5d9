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

from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.models.interface import SequenceToSequence
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


class Int8Attention(MultiHeadAttention):
    """Another attention's heads with 8-bit projections; each is made when it is first asked for."""

    def __init__(self, exact: MultiHeadAttention) -> None:
        nn.Module.__init__(self)  # all its parts are the exact one's: no weights are drawn
        self.width, self.heads = exact.width, exact.heads
        self.mechanism, self.positions = exact.mechanism, exact.positions
        self.inputs, self.inputs_bias = exact.inputs, exact.inputs_bias
        self.output = Int8Linear(exact.output.weight, exact.output.bias)  # type: ignore[assignment]
        self._projections: dict[tuple[int, int], Int8Linear] = {}

    def _apply_inputs(self, inputs: Tensor, first: int, last: int) -> Tensor:
        """Apply the projections first…last to [B, T, D]: [B, T, (last - first)·D]."""
        if (first, last) not in self._projections:
            self._projections[first, last] = Int8Linear(*self._input_rows(first, last))
        projected: Tensor = self._projections[first, last](inputs)
        return projected


def with_int8_linears(model: SequenceToSequence) -> SequenceToSequence:
    """Replace the model's linear layers, those inside its attentions and its output layer by 8-bit ones."""
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if type(part) is MultiHeadAttention:
                setattr(parent, name, Int8Attention(part))
            elif type(part) is nn.Linear:
                setattr(parent, name, Int8Linear(part.weight, part.bias))
    # A method, and not a part of the model: a name that the class has defined is never looked up among its parts.
    model.logits = Int8Linear(model.output_vectors, model.output_bias).forward  # type: ignore[method-assign, assignment]
    return model
