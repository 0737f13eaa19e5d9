"""Gaussian noise on the gradients (Neelakantan et al. 2015), which helps very deep networks out of poor solutions:

    g_t ← g_t + N(0, σ_t²)        σ_t² = η / (1 + t)^0.55

The noise of update t follows from the seed and t alone, so a training that was interrupted takes the same updates, and
processes that hold the same weights add the same noise to them.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

DECAY = 0.55
OFFSET = 1 << 62  # keeps these seeds apart from those of dropout


def noise_deviation(scale: float, step: int) -> float:
    """Return σ_t, the standard deviation of the noise of update `step`, counted from 0, for η = `scale`."""
    return float((scale / (1 + step) ** DECAY) ** 0.5)


def add_gradient_noise(parameters: Iterable[nn.Parameter], *, scale: float, seed: int, step: int) -> None:
    """Add noise to the gradient of each parameter that has one; `seed` is that of the update."""
    deviation = noise_deviation(scale, step)
    generators: dict[torch.device, torch.Generator] = {}
    for parameter in parameters:
        if parameter.grad is None:
            continue
        device = parameter.grad.device
        if device not in generators:
            generators[device] = torch.Generator(device).manual_seed(seed ^ OFFSET)
        noise = torch.randn(parameter.grad.shape, generator=generators[device], device=device, dtype=torch.float32)
        parameter.grad.add_(noise, alpha=deviation)
