"""The learning rate over time, as the trainer computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyheads.config.training import TrainingSettings
from manyheads.inspection.figures.canvas import INK, drawing_style, new_figure
from manyheads.training.optimisation.schedule import learning_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 1000


def schedule_figure(training: TrainingSettings, *, width: int) -> Figure:
    """Draw the learning rate at every update for a model of this width."""
    schedule, total = training.schedule, training.steps
    steps = np.unique(np.linspace(1, total, min(total, POINTS)).astype(int))
    peak = max(1, min(total, schedule.warmup))
    steps = np.union1d(steps, [peak])
    rates = [learning_rate(schedule, int(step), width=width, steps=total) for step in steps]
    with drawing_style():
        figure = new_figure(7.0, 3.4)
        axes = figure.add_subplot()
        axes.plot(steps, rates, color=INK)
        if schedule.warmup:
            axes.axvline(peak, color="#999999", linewidth=0.8, linestyle=":")
            axes.annotate(f" warm-up: {schedule.warmup:,} steps", (peak, max(rates) * 0.02), fontsize=8)
        axes.set(title=f"learning rate: {schedule.kind}", xlabel="step", ylabel="rate", ylim=(0, None))
    return figure
