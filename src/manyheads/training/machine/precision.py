"""How a device computes: in which precision, and whether the model is compiled first.

Weights, gradients and Adam's moments are float32 everywhere, and so are checkpoints. What may be shorter are the
factors of matrix products: bfloat16 has float32's range, so that no loss scaling is needed, and 8 of its 24 bits of
precision. That is faster on graphics processors, and slower on most others. Nobody should have to know: `auto` decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from manyheads.config.training import TrainingSettings
from manyheads.errors import ManyheadsError
from manyheads.processor import processor_flags
from manyheads.training.machine.peak import matrix_product_peak

WORTH_COMPILING = 5000  # steps; compiling takes minutes, which a short run never gets back
INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA"  # the variable that limits which instructions the processor's library may use


@dataclass(frozen=True)
class Precision:
    """The choice for one run: the type of the factors in matrix products, whether to compile, and why."""

    device: torch.device
    dtype: torch.dtype
    tensor_float: bool  # let the device round float32 factors to TF32
    compiled: bool
    why: str

    def autocast(self) -> AbstractContextManager[object]:
        """Return the block in which the objective is to be computed; its backward pass belongs outside."""
        if self.dtype == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    def settle(self) -> None:
        """Tell PyTorch how to compute where the device has the choice; these are settings of the whole process."""
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high" if self.tensor_float else "highest")
            # A run that was interrupted must come to the same weights as one that was not, bit by bit. A processor
            # computes so by itself; here some kernels would add up in whatever order their threads come.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True, warn_only=True)

    def peak(self) -> float:
        """Measure what the device can do, in FLOPs per second: a processor asked for bfloat16 may be faster without."""
        return max(matrix_product_peak(self.device, dtype=dtype) for dtype in {self.dtype, torch.float32})

    def sentence(self) -> str:
        """Return the choice and its reason in a line."""
        name = str(self.dtype).removeprefix("torch.") + (" (TF32)" if self.tensor_float else "")
        threads = torch.get_num_threads()
        processor = f"{threads} thread{'' if threads == 1 else 's'}"
        place = processor if self.device.type == "cpu" else str(self.device)
        return f"{name} on {place}{', compiled' if self.compiled else ''}: {self.why}."


def choose_precision(settings: TrainingSettings, device: torch.device) -> Precision:
    """Return how to compute on a device: as the recipe asks, or what is fastest there and safe."""
    compiled = _compiles(settings, device)
    if settings.precision == "bfloat16":
        _check_bfloat16(device)
        return Precision(device, torch.bfloat16, False, compiled, "the recipe asks for it")
    if settings.precision == "float32":
        return Precision(device, torch.float32, False, compiled, "the recipe asks for it")
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            why = "its matrix products are fastest so, and weights stay float32"
            return Precision(device, torch.bfloat16, False, compiled, why)
        return Precision(device, torch.float32, True, compiled, "this device has no bfloat16")
    return Precision(device, torch.float32, False, compiled, _why_float32(device))


def _compiles(settings: TrainingSettings, device: torch.device) -> bool:
    """Whether to compile the model: asked for, or on CUDA in a run that is long enough."""
    if settings.compile == "auto":
        return device.type == "cuda" and settings.steps >= WORTH_COMPILING
    return settings.compile == "on"


def _why_float32(device: torch.device) -> str:
    """Say why bfloat16 was not taken on a device that is no CUDA."""
    if device.type != "cpu":
        return "bfloat16 is not supported on this device"
    if {"avx512_bf16", "amx_bf16"} & processor_flags():
        return "the safe choice on a processor; training.precision: bfloat16 may be faster on this one"
    return "bfloat16 is slower on a processor without instructions for it"


def _check_bfloat16(device: torch.device) -> None:
    """Refuse bfloat16 where it cannot be computed."""
    known = device.type == "cpu" or (device.type == "cuda" and torch.cuda.is_bf16_supported())
    if not known:
        raise ManyheadsError(
            f"{device} does not support bfloat16.", where="training.precision", cure="Leave it at auto."
        )
    if device.type == "cpu" and amx_is_unsafe(processor_flags(), os.environ):
        # Some virtual machines announce AMX and then have no tiles; the process dies of an illegal instruction.
        raise ManyheadsError(
            "this processor announces AMX, whose bfloat16 products can kill the process.",
            where="training.precision",
            cure=f"Start again with {INSTRUCTIONS}=AVX512_CORE_BF16 in the environment, or leave it at auto.",
        )


def amx_is_unsafe(flags: set[str], environment: Mapping[str, str]) -> bool:
    """Whether the processor says it has AMX and nothing keeps the library from using it."""
    limit = environment.get(INSTRUCTIONS, "").upper()
    limited = limit not in ("", "ALL", "DEFAULT") and "AMX" not in limit
    return "amx_bf16" in flags and not limited
