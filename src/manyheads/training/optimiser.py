"""Adam with the paper's constants (section 5.3), and its state as named arrays for checkpoints without pickle."""

from __future__ import annotations

import torch
from torch import nn

from manyheads.config.schema import TrainingSettings
from manyheads.runs.loading import share, whole
from manyheads.runs.weights import Arrays, check_names, shapes

MOMENTS = ("exp_avg", "exp_avg_sq")


def make_optimiser(model: nn.Module, settings: TrainingSettings) -> torch.optim.AdamW:
    """Return Adam over the parameters that learn (AdamW is Adam where the weight decay is 0)."""
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.optim.AdamW(
        learning,
        lr=0.0,  # the schedule sets it before every update
        betas=settings.betas,
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def optimiser_arrays(model: nn.Module, optimiser: torch.optim.Optimizer) -> Arrays:
    """Return Adam's moments by parameter name; before the first update there are none."""
    arrays: Arrays = {}
    for name, parameter in model.named_parameters():
        for moment in MOMENTS:
            if moment in optimiser.state.get(parameter, {}):
                arrays[f"{moment}.{name}"] = whole(optimiser.state[parameter][moment]).cpu().numpy()
    return arrays


def restore_optimiser(
    model: nn.Module, optimiser: torch.optim.Optimizer, arrays: Arrays, *, step: int, where: str
) -> None:
    """Put moments back beside their parameters, after `step` updates."""
    learning = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    wanted = {f"{moment}.{name}": tuple(one.shape) for name, one in learning.items() for moment in MOMENTS}
    check_names(shapes(arrays.items()), wanted if step else {}, where=where)
    if step == 0:
        return
    for name, parameter in learning.items():
        moments = {
            moment: share(torch.from_numpy(arrays[f"{moment}.{name}"]), like=parameter.detach()) for moment in MOMENTS
        }
        # The fused kernel wants the count of updates where the parameter is.
        optimiser.state[parameter] = {"step": torch.tensor(float(step), device=parameter.device), **moments}
