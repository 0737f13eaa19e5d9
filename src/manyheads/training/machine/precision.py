"""How a device computes: in which precision, and whether the model is compiled first.

Weights, gradients and Adam's moments are always float32, and so are checkpoints. Only the factors of matrix products
may be shorter: bfloat16 has float32's range, so that no loss scaling is needed, and 8 of its 24 bits of precision. That
is faster on GPUs, and slower on most CPUs. `auto` chooses.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal

import torch

from manyheads.config.training import TrainingSettings
from manyheads.errors import ManyheadsError
from manyheads.processor import processor_flags
from manyheads.training.machine.bfloat16_probe import INSTRUCTIONS, bfloat16_crashes
from manyheads.training.machine.peak import matrix_product_peak
from manyheads.training.machine.products import OneDNNProducts, onednn_is_available

WORTH_COMPILING = 5000  # steps; compiling takes minutes, which a short run does not regain


@dataclass(frozen=True)
class Precision:
    """The choice for one run: the type of the factors in matrix products, whether to compile, and why."""

    device: torch.device
    dtype: torch.dtype
    tensor_float: bool  # let the device round float32 factors to TF32
    compiled: bool
    why: str
    products: Literal["torch", "onednn"] = "torch"  # of float32 factors on a processor

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context in which to compute the objective; its backward pass belongs outside."""
        if self.dtype == torch.float32:
            return OneDNNProducts() if self.products == "onednn" else nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    def configure_torch(self) -> None:
        """Set PyTorch's global options for the device; they apply to the whole process."""
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high" if self.tensor_float else "highest")
            # A run that was interrupted must reach the same weights as one that was not, bit for bit. On a CPU this is
            # always so; on CUDA some kernels would add numbers in the order in which their threads finish.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True, warn_only=True)

    def peak(self) -> float:
        """Measure the device's peak in FLOPs per second: the faster of the chosen type and float32."""
        with OneDNNProducts() if self.products == "onednn" else nullcontext():
            return max(matrix_product_peak(self.device, dtype=dtype) for dtype in {self.dtype, torch.float32})

    def sentence(self) -> str:
        """Return the choice and its reason as one line."""
        name = str(self.dtype).removeprefix("torch.") + (" (TF32)" if self.tensor_float else "")
        threads = torch.get_num_threads()
        processor = f"{threads} thread{'' if threads == 1 else 's'}"
        place = processor if self.device.type == "cpu" else str(self.device)
        library = ", products by oneDNN" if self.products == "onednn" else ""
        return f"{name} on {place}{library}{', compiled' if self.compiled else ''}: {self.why}."


def choose_precision(settings: TrainingSettings, device: torch.device) -> Precision:
    """Return how to compute on a device: as the recipe says, or the fastest safe choice."""
    precision = _choose_type(settings, device)
    if settings.products == "torch" or precision.dtype != torch.float32 or device.type != "cpu":
        return precision
    if not onednn_is_available():
        raise ManyheadsError("this build of PyTorch has no oneDNN.", where="training.products", cure="Set it to torch.")
    return replace(precision, products="onednn")


def _choose_type(settings: TrainingSettings, device: torch.device) -> Precision:
    """Return the type of the factors in matrix products, and whether to compile."""
    compiled = _compiles(settings, device)
    if settings.precision == "bfloat16":
        _check_bfloat16(device)
        return Precision(device, torch.bfloat16, False, compiled, "set in the recipe")
    if settings.precision == "float32":
        return Precision(device, torch.float32, False, compiled, "set in the recipe")
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            why = "it is fastest for matrix products, and weights stay float32"
            return Precision(device, torch.bfloat16, False, compiled, why)
        return Precision(device, torch.float32, True, compiled, "this device has no bfloat16")
    return Precision(device, torch.float32, False, compiled, _why_float32(device))


def _compiles(settings: TrainingSettings, device: torch.device) -> bool:
    """Whether to compile the model: if the recipe says so, or on CUDA if the run is long enough."""
    if settings.compile == "auto":
        return device.type == "cuda" and settings.steps >= WORTH_COMPILING
    return settings.compile == "on"


def _why_float32(device: torch.device) -> str:
    """Return why bfloat16 was not chosen on a device other than CUDA."""
    if device.type != "cpu":
        return "bfloat16 is not supported on this device"
    if {"avx512_bf16", "amx_bf16"} & processor_flags():
        return "the safe choice on a processor; training.precision: bfloat16 may be faster on this one"
    return "bfloat16 is slower on a processor without instructions for it"


def _check_bfloat16(device: torch.device) -> None:
    """Raise an error if the device cannot compute in bfloat16."""
    supported = device.type == "cpu" or (device.type == "cuda" and torch.cuda.is_bf16_supported())
    if not supported:
        raise ManyheadsError(
            f"{device} does not support bfloat16.", where="training.precision", cure="Leave it at auto."
        )
    if device.type == "cpu" and bfloat16_crashes():
        raise ManyheadsError(
            "this processor reports AMX, but its bfloat16 products crash.",
            where="training.precision",
            cure=f"Start again with {INSTRUCTIONS}=AVX512_CORE_BF16 in the environment, or leave it at auto.",
        )
