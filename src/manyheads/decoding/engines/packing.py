"""Linear layers laid out once, for the products that decoding is made of.

A decoding step multiplies a few rows by every weight of the model. The general product of PyTorch's library takes
weights as they lie and is slow at so few rows; oneDNN, which PyTorch brings along, has kernels for weights that were
put into blocks beforehand. It writes and keeps a kernel for every number of rows, half a megabyte each, so rows are
filled up to one of a few numbers, and many rows take the general product as ever.

    model = with_linears(model, PackedLinear)

The sums are the same up to their last digits. `PackedLinear` keeps the weights as they are; `int8` gives them 8 bits.
"""

from __future__ import annotations

import platform
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.models.interface import AnySequenceToSequence

MOST_ROWS = 128  # that packed weights are for
MakeLinear = Callable[[Tensor, Tensor | None], nn.Module]
"""Makes a layer from [..., C] to [..., R] of weights [R, C] and a bias [R]."""


def can_pack() -> bool:
    """Whether PyTorch has oneDNN's kernels for packed weights here."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


class PackedLinear(nn.Module):
    """A linear layer for inference whose weights [R, C] also lie in oneDNN's blocks, for few rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._weight, self._bias = weight.detach(), None if bias is None else bias.detach()
        self._packed = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous(), None)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return [..., R] for inputs [..., C]."""
        rows = inputs.reshape(-1, inputs.shape[-1])
        count = len(rows)
        if not 0 < count <= MOST_ROWS:
            return F.linear(inputs, self._weight, self._bias)
        filled = _filled(count)
        if filled > count:
            rows = F.pad(rows, (0, 0, 0, filled - count))
        outputs: Tensor = torch.ops.mkldnn._linear_pointwise.default(rows, self._packed, self._bias, "none", [], "")
        return outputs[:count].view(*inputs.shape[:-1], -1)


def _filled(count: int) -> int:
    """Return the next power of 2 or, from 16 rows, multiple of 16: twelve numbers in all."""
    return 1 << (count - 1).bit_length() if count <= 16 else -(-count // 16) * 16


class PackedAttention(MultiHeadAttention):
    """Another attention's heads with packed projections; each is made when it is first asked for."""

    def __init__(self, exact: MultiHeadAttention, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)  # all its parts are the exact one's: no weights are drawn
        self.width, self.heads = exact.width, exact.heads
        self.mechanism, self.positions = exact.mechanism, exact.positions
        self.inputs, self.inputs_bias = exact.inputs, exact.inputs_bias
        self.output = make_linear(exact.output.weight, exact.output.bias)  # type: ignore[assignment]
        self._make_linear = make_linear
        self._projections: dict[tuple[int, int], nn.Module] = {}

    def _apply_projection(self, inputs: Tensor, first: int, last: int) -> Tensor:
        """Apply the projections [first, last) to [B, T, D]; return [B, T, (last - first)·D]."""
        if (first, last) not in self._projections:
            self._projections[first, last] = self._make_linear(*self._projection_rows(first, last))
        projected: Tensor = self._projections[first, last](inputs)
        return projected


def with_linears(model: AnySequenceToSequence, make_linear: MakeLinear) -> AnySequenceToSequence:
    """Replace the model's linear layers, those inside its attentions and its output layer by others."""
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if type(part) is MultiHeadAttention:
                setattr(parent, name, PackedAttention(part, make_linear))
            elif type(part) is nn.Linear:
                setattr(parent, name, make_linear(part.weight, part.bias))
    # A method, and not a part of the model: a name that the class has defined is never looked up among its parts.
    model.logits = make_linear(model.output_vectors, model.output_bias).forward  # type: ignore[method-assign]
    return model
