"""Linear layers whose weights are packed once, for faster decoding on CPUs.

A decoding step multiplies a few rows by every weight of the model. PyTorch's general matrix product does not reorder
the weights, and is slow for few rows. oneDNN, which is part of PyTorch, has kernels for weights that were packed into
blocks beforehand. It compiles and caches one kernel per number of rows, half a megabyte each. So the number of rows is
padded to one of a few values, and inputs with many rows use the general product.

    model = with_linears(model, PackedLinear)

Results are equal up to rounding. `PackedLinear` keeps float32 weights; `int8.Int8Linear` quantizes them to 8 bits.
"""

from __future__ import annotations

import platform
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.models.interface import AnySequenceToSequence

MOST_ROWS = 128  # inputs with more rows use the general product
MakeLinear = Callable[[Tensor, Tensor | None], nn.Module]
"""Builds a layer from [..., C] to [..., R] from weights [R, C] and a bias [R]."""


def can_pack() -> bool:
    """Return whether this build of PyTorch has oneDNN's kernels for packed weights."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


class PackedLinear(nn.Module):
    """A linear layer for inference with weights [R, C], and a copy packed for oneDNN that serves inputs of few rows."""

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
        padded = _padded_rows(count)
        if padded > count:
            rows = F.pad(rows, (0, 0, 0, padded - count))
        outputs: Tensor = torch.ops.mkldnn._linear_pointwise.default(rows, self._packed, self._bias, "none", [], "")
        return outputs[:count].view(*inputs.shape[:-1], -1)


def _padded_rows(count: int) -> int:
    """Return the next power of 2 or, above 16 rows, the next multiple of 16: twelve values in all."""
    return 1 << (count - 1).bit_length() if count <= 16 else -(-count // 16) * 16


class PackedAttention(MultiHeadAttention):
    """An attention that shares the weights of another and has packed projections, each built on first use."""

    def __init__(self, exact: MultiHeadAttention, make_linear: MakeLinear) -> None:
        nn.Module.__init__(self)  # every part is taken from `exact`, so no new weights are initialised
        self.width, self.heads = exact.width, exact.heads
        self.mechanism, self.positions = exact.mechanism, exact.positions
        self.query_key_norm = exact.query_key_norm
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
    """Replace the model's linear layers, including those in its attentions and its output layer."""
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if type(part) is MultiHeadAttention:
                setattr(parent, name, PackedAttention(part, make_linear))
            elif type(part) is nn.Linear:
                setattr(parent, name, make_linear(part.weight, part.bias))
    # Assigned as a method: nn.Module does not look up a submodule under a name that the class already defines.
    model.logits = make_linear(model.output_vectors, model.output_bias).forward  # type: ignore[method-assign]
    return model
