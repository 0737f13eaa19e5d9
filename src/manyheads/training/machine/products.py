"""Which library computes the matrix products of linear layers in float32 on a processor.

PyTorch calls Intel's MKL, which uses half of the width of the vector instructions on AMD's processors with AVX-512.
oneDNN, which PyTorch brings along and uses for bfloat16, uses all of it: on one core of such a processor, products of
1,000 to 4,096 rows and widths of 128 to 1,024 took 0.4 of the time forward, and 0.4 to 0.7 backward. The numbers of
both are float32, and differ in the last digits, since sums are made in another order. So this is a choice of the
recipe, which does not change by itself.

`OneDNNProducts` is a context, like PyTorch's autocast: models are written as ever, and their products go another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

FEWEST_ROWS = 16  # below, a product takes less time than its detour
_MATRIX_PRODUCTS = {torch.mm, torch.matmul, Tensor.mm, Tensor.matmul, Tensor.__matmul__}


def onednn_is_available() -> bool:
    """Whether this build of PyTorch has oneDNN's linear layers."""
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class OneDNNProducts(TorchFunctionMode):
    """Inside this context, linear layers and products of matrices in float32 on a processor are oneDNN's."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 (whatever the function returns)
        """Call a function of PyTorch, or oneDNN in its place."""
        kwargs = kwargs or {}
        if function is F.linear and not kwargs and _suits(*args[:2]):
            return _Linear.apply(*args, *[None] * (3 - len(args)))  # type: ignore[no-untyped-call]
        if (
            function in _MATRIX_PRODUCTS
            and set(kwargs) <= {"out"}
            and _suits(args[0], args[1].t() if _is_matrix(args[1]) else None)
        ):
            return _into(kwargs.get("out"), _Linear.apply(args[0], args[1].t(), None))  # type: ignore[no-untyped-call]
        if function is torch.addmm and set(kwargs) <= {"out"} and _suits(args[1], args[2].t()):
            return _into(kwargs.get("out"), args[0] + _Linear.apply(args[1], args[2].t(), None))  # type: ignore[no-untyped-call]
        return function(*args, **kwargs)


class _Linear(torch.autograd.Function):
    """Y = X·Wᵀ + b, forward and backward."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ANN401
        """Return [..., N] for inputs [..., K] and a weight [N, K]."""
        context.save_for_backward(inputs, weight)
        return _product(inputs.reshape(-1, inputs.shape[-1]), weight, bias).view(*inputs.shape[:-1], len(weight))

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return G·W, Gᵀ·X and the sum of G over all rows, as far as they are needed."""
        inputs, weight = context.saved_tensors
        needed = context.needs_input_grad
        slope = gradients[0].reshape(-1, len(weight))
        of_inputs = _product(slope, weight.t()).view(inputs.shape) if needed[0] else None
        of_weight = _product(slope.t(), inputs.reshape(-1, inputs.shape[-1]).t()) if needed[1] else None
        return of_inputs, of_weight, slope.sum(dim=0) if needed[2] else None


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return left·rightᵀ + bias [M, N] for matrices [M, K] and [N, K]."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(left, right, bias, "none", [], "")
    return product


def _suits(inputs: Any, weight: Any) -> bool:  # noqa: ANN401 (whatever a function was called with)
    """Whether oneDNN computes X·Wᵀ: a product of float32 numbers on a processor, with enough rows."""
    return (
        isinstance(inputs, Tensor)
        and _is_matrix(weight)
        and inputs.dtype == weight.dtype == torch.float32
        and inputs.device.type == weight.device.type == "cpu"
        and inputs.dim() > 1
        and inputs.numel() >= FEWEST_ROWS * inputs.shape[-1] > 0
    )


def _is_matrix(tensor: Any) -> bool:  # noqa: ANN401
    """Whether something is a tensor with two dimensions, neither of which is empty."""
    return isinstance(tensor, Tensor) and tensor.dim() == 2 and tensor.numel() > 0


def _into(out: Tensor | None, result: Tensor) -> Tensor:
    """Return a result, in the tensor that was given for it if there was one."""
    return result if out is None else out.copy_(result)
