"""A run folder as a model, and a model's parameters as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from manyheads.bounded.machine import as_bytes
from manyheads.config.model_config import ConfigBase
from manyheads.errors import ManyheadsError
from manyheads.models.build import build_model
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import Arrays, check_names, read_weights, shapes

M = TypeVar("M", bound=nn.Module)


def choose_device(name: str) -> torch.device:
    """Return the device called auto, cpu, cuda or mps; auto chooses the fastest available one."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, is_available in available.items() if is_available))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not available.get(device.type, False):
        raise ManyheadsError(
            f"this computer has no device '{name}'.",
            where="--device",
            cure=f"Available: auto, {', '.join(device for device, is_available in available.items() if is_available)}.",
        )
    return device


class SkipInitialisation(TorchFunctionMode):
    """A context in which models are built without random initial weights, because these will be replaced.

    Random features are still computed: they follow from a seed and are not stored in files.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Skip functions that fill a tensor with random numbers."""
        return args[0] if function in (Tensor.uniform_, Tensor.normal_) else function(*args, **(kwargs or {}))


def load_model(kind: type[M], run: RunFolder, *, device: torch.device | str = "cpu") -> M:
    """Build the run's model, which must be of a kind such as `SequenceToSequence`, and load the run's weights."""
    config = run.config()
    _check_size(config, run.weights_file)
    with SkipInitialisation():
        model = build_model(config)
    if not isinstance(model, kind):
        raise run.other_purpose(config)
    fill_model(model, read_weights(run.weights_file), where=str(run.weights_file))
    return model.to(device).eval()


def _check_size(config: ConfigBase, file: Path) -> None:
    """Raise an error if a file is too small for a model of this configuration, before memory is taken for it."""
    needed = config.model.weights(*config.vocabulary_sizes)  # a weight takes at least a byte
    there = file.stat().st_size
    if there < needed:
        raise ManyheadsError(
            f"the weights do not fit the model, which has {needed:,}: this file has {as_bytes(there)}.",
            where=str(file),
        )


def stored_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of a model that are saved: its parameters, tied ones once, and its persistent buffers."""
    persistent = model.state_dict(keep_vars=True)
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in persistent}
    return {**dict(model.named_parameters()), **buffers}


def model_arrays(model: nn.Module) -> Arrays:
    """Return the saved tensors of a model as arrays; all processes must call this if any is sharded."""
    return whole_arrays(stored_tensors(model))


def fill_model(model: nn.Module, arrays: Arrays, *, where: str) -> None:
    """Copy arrays into a model's tensors of the same names; missing or unknown names raise an error."""
    copy_arrays(arrays, stored_tensors(model), where=where)


def whole_arrays(tensors: Mapping[str, Tensor]) -> Arrays:
    """Return tensors as arrays, which share memory with them if possible."""
    return {name: whole(tensor.detach()).cpu().numpy() for name, tensor in tensors.items()}


def copy_arrays(arrays: Arrays, tensors: Mapping[str, Tensor], *, where: str) -> None:
    """Copy arrays into the tensors of the same names and shapes."""
    expected = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    check_names(shapes(arrays.items()), expected, where=where)
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(share(torch.from_numpy(np.ascontiguousarray(arrays[name])), like=tensor))


def whole(tensor: Tensor) -> Tensor:
    """Return the full tensor of one that may be sharded over several processes (a DTensor)."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def share(whole: Tensor, *, like: Tensor) -> Tensor:
    """Return this process's shard of a whole tensor, with the layout, device and type of `like`."""
    whole = whole.to(device=like.device, dtype=like.dtype)
    if not hasattr(like, "full_tensor"):
        return whole
    from torch.distributed.tensor import DTensor, distribute_tensor  # takes a second to import, needed only here

    assert isinstance(like, DTensor)
    # Every process has the whole tensor, so nothing has to be sent.
    return distribute_tensor(whole, like.device_mesh, like.placements, src_data_rank=None)
