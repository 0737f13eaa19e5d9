"""Adam with the paper's constants (section 5.3), Muon or plain descent, and their state as arrays without pickle."""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch
from torch import nn

from manyheads.attention.longformer import LongformerAttention
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.training import TrainingSettings
from manyheads.layers.cells import Cell
from manyheads.layers.feed_forward import FeedForward
from manyheads.layers.gated_feed_forward import GatedFeedForward
from manyheads.runs.loading import share, whole
from manyheads.runs.weights import Arrays, check_names, shapes
from manyheads.training.optimisation.muon import MOMENTUM, Muon

MOMENTS = ("exp_avg", "exp_avg_sq")


def make_optimiser(
    model: nn.Module, settings: TrainingSettings, *, factors: torch.dtype = torch.float32
) -> torch.optim.Optimizer:
    """Return the optimiser of the trainable parameters (AdamW is Adam where the weight decay is 0).

    `factors` is the type in which Muon computes its own matrix products: the same as the model's.
    """
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(learning, lr=0.0, weight_decay=settings.weight_decay)
    adam: dict[str, Any] = {
        "lr": 0.0,  # the schedule sets it before every update
        "betas": settings.betas,
        "eps": settings.epsilon,
        "weight_decay": settings.weight_decay,
        "fused": True,
    }
    if settings.optimiser == "adam":
        return torch.optim.AdamW(learning, **adam)
    return Muon(_groups(model, learning), momentum=settings.momentum, factors=factors, **adam)


def _groups(model: nn.Module, learning: list[nn.Parameter]) -> list[dict[str, Any]]:
    """Return Adam's parameter group, then the groups of weight matrices, one for each number of stacked matrices."""
    single, triple = [], []
    cells: dict[int, list[nn.Parameter]] = {}  # by the blocks in the matrices of a recurrent cell: gates and candidate
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            triple.append(module.input_projection)
            single.append(module.output.weight)
            triple += [module.global_projection] if isinstance(module, LongformerAttention) else []
        elif isinstance(module, FeedForward | GatedFeedForward):
            single += [module.widen.weight, module.narrow.weight]
            single += [module.gate.weight] if isinstance(module, GatedFeedForward) else []
        elif isinstance(module, Cell | nn.RNNBase):
            by_name = dict(module.named_parameters())
            pair = [by_name["weight_ih_l0"], by_name["weight_hh_l0"]]
            cells.setdefault(len(pair[1]) // pair[1].shape[1], []).extend(pair)
    matrices = {id(matrix) for matrix in (*single, *triple, *chain(*cells.values()))}
    return [
        {"params": [parameter for parameter in learning if id(parameter) not in matrices]},
        {"params": [matrix for matrix in single if matrix.requires_grad], "parts": 1},
        {"params": [matrix for matrix in triple if matrix.requires_grad], "parts": 3},
        *({"params": [one for one in found if one.requires_grad], "parts": parts} for parts, found in cells.items()),
    ]


def _moments(optimiser: torch.optim.Optimizer) -> dict[nn.Parameter, tuple[str, ...]]:
    """Return the names of the state tensors that the optimiser keeps for each trainable parameter."""
    usual = () if isinstance(optimiser, torch.optim.SGD) else MOMENTS
    return {
        parameter: (MOMENTUM,) if "parts" in group else usual
        for group in optimiser.param_groups
        for parameter in group["params"]
    }


def optimiser_arrays(model: nn.Module, optimiser: torch.optim.Optimizer) -> Arrays:
    """Return the optimiser's moments by name; there are none before the first update."""
    arrays: Arrays = {}
    moments = _moments(optimiser)
    for name, parameter in model.named_parameters():
        for moment in moments.get(parameter, ()):
            if moment in optimiser.state.get(parameter, {}):
                arrays[f"{moment}.{name}"] = whole(optimiser.state[parameter][moment]).cpu().numpy()
    return arrays


def restore_optimiser(
    model: nn.Module, optimiser: torch.optim.Optimizer, arrays: Arrays, *, step: int, where: str
) -> None:
    """Restore the moments of each parameter, as they were after `step` updates."""
    learning = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    moments = _moments(optimiser)
    expected = {
        f"{moment}.{name}": tuple(parameter.shape)
        for name, parameter in learning.items()
        for moment in moments[parameter]
    }
    check_names(shapes(arrays.items()), expected if step else {}, where=where)
    if step == 0 or not expected:
        return
    for name, parameter in learning.items():
        saved: dict[str, torch.Tensor] = {
            moment: share(torch.from_numpy(arrays[f"{moment}.{name}"]), like=parameter.detach())
            for moment in moments[parameter]
        }
        # The fused kernel needs the step count on the parameter's device.
        optimiser.state[parameter] = {"step": torch.tensor(float(step), device=parameter.device), **saved}
