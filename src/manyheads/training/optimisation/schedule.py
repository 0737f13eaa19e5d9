"""The learning rate over time. The paper's, section 5.3, equation (3):

    rate = d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)

rises linearly for `warmup` steps and then falls with the square root of the step. The other schedules rise to a given
peak in the same way and then differ. `warmup_constant_decay` stays at the peak until the end of training is fixed, and
falls from there to the end.
"""

from __future__ import annotations

import math

from manyheads.config.training import ScheduleSettings


def learning_rate(settings: ScheduleSettings, step: int, *, width: int, steps: int) -> float:
    """Return the rate of update `step`, counted from 1, of `steps` updates of a model of size `width`."""
    if settings.kind == "paper":
        return settings.rate / math.sqrt(width) * _rise_and_fall(step, settings.warmup)
    if step <= settings.warmup:
        return settings.rate * step / settings.warmup
    if settings.kind == "inverse_sqrt":
        return settings.rate * math.sqrt(max(1, settings.warmup) / step)
    if settings.kind == "warmup_constant_decay":
        begin = steps if settings.decay_from is None else settings.decay_from
        return settings.rate * _towards_floor(settings, max(0, step - begin) / max(1, steps - begin))
    return settings.rate * _towards_floor(settings, (step - settings.warmup) / max(1, steps - settings.warmup))


def _rise_and_fall(step: int, warmup: int) -> float:
    """Return min(step^−0.5, step · warmup^−1.5); without warm-up, only the first term."""
    rising = step / (warmup * math.sqrt(warmup)) if warmup else math.inf
    return min(1.0 / math.sqrt(step), rising)


def _towards_floor(settings: ScheduleSettings, progress: float) -> float:
    """Return the fraction of the peak rate at a given progress (0 to 1) of the decay."""
    done = min(1.0, progress)
    left = {"cosine": 0.5 * (1.0 + math.cos(math.pi * done)), "constant": 1.0}.get(settings.kind, 1.0 - done)
    return settings.floor + (1.0 - settings.floor) * left
