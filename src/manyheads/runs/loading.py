"""A run folder as a model, and a model's parameters as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from manyheads.errors import ManyheadsError
from manyheads.models.builder import build_model
from manyheads.models.interface import SequenceToSequence
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays, check_names, read_weights, shapes


def choose_device(name: str) -> torch.device:
    """Return the device called auto, cpu, cuda or mps; auto takes the fastest there is."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, there in available.items() if there))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not available.get(device.type, False):
        raise ManyheadsError(
            f"this computer has no device '{name}'.",
            where="--device",
            cure=f"Available: auto, {', '.join(one for one, there in available.items() if there)}.",
        )
    return device


class Undrawn(TorchFunctionMode):
    """Within its block, models are built without drawing the weights, which are about to be replaced.

    What is computed is computed: random features follow from a seed, and no file holds them.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Leave a tensor as it is where it would be filled with random numbers."""
        return args[0] if function in (Tensor.uniform_, Tensor.normal_) else function(*args, **(kwargs or {}))


def load_model(run: RunFolder, *, device: torch.device | str = "cpu") -> SequenceToSequence:
    """Build the run's model and fill it with the run's weights, ready to translate."""
    model = build_model(run.config())
    fill_parameters(model, read_weights(run.weights_file), where=str(run.weights_file))
    return model.to(device).eval()


def parameter_arrays(model: nn.Module) -> Arrays:
    """Return the parameters by name, tied ones once; sharded ones are put together, by all processes at once."""
    return whole_arrays(dict(model.named_parameters()))


def fill_parameters(model: nn.Module, arrays: Arrays, *, where: str) -> None:
    """Copy arrays into the parameters of the same names; everything missing or left over is told at once."""
    copy_arrays(arrays, dict(model.named_parameters()), where=where)


def whole_arrays(tensors: Mapping[str, Tensor]) -> Arrays:
    """Return tensors as arrays, which share memory with them where that is possible."""
    return {name: whole(tensor.detach()).cpu().numpy() for name, tensor in tensors.items()}


def copy_arrays(arrays: Arrays, tensors: Mapping[str, Tensor], *, where: str) -> None:
    """Copy arrays into the tensors of the same names and shapes."""
    wanted = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    check_names(shapes(arrays.items()), wanted, where=where)
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(share(torch.from_numpy(np.ascontiguousarray(arrays[name])), like=tensor))


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor that several processes may hold in parts (a DTensor) as one."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def share(whole: Tensor, *, like: Tensor) -> Tensor:
    """Return this process's part of a whole tensor, laid out as another is, on its device and of its type."""
    whole = whole.to(device=like.device, dtype=like.dtype)
    if not hasattr(like, "full_tensor"):
        return whole
    from torch.distributed.tensor import DTensor, distribute_tensor  # a second's import that nobody else needs

    assert isinstance(like, DTensor)
    # Every process has the whole, so nothing need be sent.
    return distribute_tensor(whole, like.device_mesh, like.placements, src_data_rank=None)
