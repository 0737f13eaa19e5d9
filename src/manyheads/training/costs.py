"""The cost of training a model, before training: parameters, FLOPs, memory, time.

Nothing is estimated by a formula. The model is built on PyTorch's `meta` device, where tensors have shapes but no
memory. One update runs there, while every matrix product is counted and the size of every tensor saved for the backward
pass is added up. So the numbers are right for any model, and for any change to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from manyheads.config.recipe import RecipeBase
from manyheads.tasks.interface import Plan
from manyheads.training.machine.peak import matrix_product_peak

BYTES = 4  # of a float32
STATE_COPIES = 4  # weights, gradients, and Adam's two moments
UTILISATION = 0.5  # of the matrix-product peak that a training step is assumed to reach

# The machine of the paper, with the peak of a P100 as the paper counts it (footnote 5).
PAPER_MACHINE = ("the paper's 8 × P100", 8 * 9.5e12)


@dataclass(frozen=True)
class Machine:
    """A machine, its expected FLOPs per second, and how long training would take on it."""

    name: str
    flops_per_second: float
    hours: float


@dataclass(frozen=True)
class Costs:
    """The size of a model and the cost of training it."""

    parameters: int
    trainable_parameters: int
    flops_per_update: int
    training_flops: float
    tokens_per_update: int
    memory_bytes: int
    activation_bytes: int
    steps: int
    assumed_utilisation: float
    measured_peak: float
    machines: list[Machine]


def count_costs(recipe: RecipeBase, plan: Plan[Any]) -> Costs:
    """Count what training a recipe's model costs."""
    settings, model = recipe.training, plan.objective.model
    with FlopCounterMode(display=False) as flops:
        with weigh_activations(model) as activations:
            loss, count = plan.objective(plan.tensors)
        loss.backward()
    per_update = flops.get_total_flops() * settings.accumulate
    parameters = sum(parameter.numel() for parameter in model.parameters())
    peak = matrix_product_peak()
    steps = settings.steps
    if settings.minutes is not None and settings.is_open_ended:
        steps = max(1, int(60 * settings.minutes * UTILISATION * peak / per_update))
    total = float(per_update) * steps
    threads = torch.get_num_threads()
    here = f"this computer with {threads} thread{'' if threads == 1 else 's'}"
    return Costs(
        parameters=parameters,
        trainable_parameters=sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad),
        flops_per_update=per_update,
        training_flops=total,
        tokens_per_update=count * settings.accumulate,
        memory_bytes=STATE_COPIES * BYTES * parameters + activations[0],
        activation_bytes=activations[0],
        steps=steps,
        assumed_utilisation=UTILISATION,
        measured_peak=peak,
        machines=[_expect(here, peak, total), _expect(*PAPER_MACHINE, total)],
    )


@contextmanager
def weigh_activations(model: torch.nn.Module) -> Iterator[list[int]]:
    """Yield a list whose single entry becomes the bytes saved for the backward pass, without parameters."""
    seen = {id(parameter) for parameter in model.parameters()}
    weight = [0]
    keep_alive: list[Tensor] = []  # an id is unique only while its tensor lives

    def pack(tensor: Tensor) -> Tensor:
        """Count a tensor's bytes the first time it is saved; a view counts as the tensor it is a view of."""
        base = tensor._base if tensor._base is not None else tensor
        if id(base) not in seen:
            seen.add(id(base))
            keep_alive.append(base)
            weight[0] += base.numel() * base.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield weight


def _expect(name: str, peak: float, flops: float) -> Machine:
    """Return how long a machine of the given peak would take at the assumed utilisation."""
    speed = UTILISATION * peak
    return Machine(f"{name}, at {UTILISATION:.0%} of {peak / 1e9:,.0f} GFLOPS", speed, flops / speed / 3600)
