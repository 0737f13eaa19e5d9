"""A run folder as a model, and a model's parameters as arrays."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

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


def load_model(run: RunFolder, *, device: torch.device | str = "cpu") -> SequenceToSequence:
    """Build the run's model and fill it with the run's weights, ready to translate."""
    model = build_model(run.config())
    fill_parameters(model, read_weights(run.weights_file), where=str(run.weights_file))
    return model.to(device).eval()


def parameter_arrays(model: nn.Module) -> dict[str, NDArray[np.generic]]:
    """Return the parameters by name, tied ones once."""
    return {name: parameter.detach().cpu().numpy() for name, parameter in model.named_parameters()}


def fill_parameters(model: nn.Module, arrays: Arrays, *, where: str) -> None:
    """Copy arrays into the parameters of the same names; everything missing or left over is told at once."""
    parameters = dict(model.named_parameters())
    wanted = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    check_names(shapes(arrays.items()), wanted, where=where)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(arrays[name])))
