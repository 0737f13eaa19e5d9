"""The label-smoothed target (section 5.4 of the paper), and its effect on the loss: certainty is penalised too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from manyheads.inspection.figures.canvas import INK, drawing_style, matrix, new_figure
from manyheads.tasks.loss import loss_and_difference, smoothed_loss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSES = 10  # in the picture; of a whole vocabulary, nothing but a line would be visible


def smoothed_target(targets: Tensor, *, classes: int, smoothing: float) -> Tensor:
    """Return the target distribution q [N, V] of the loss, from its gradient p − q with respect to the logits."""
    logits = torch.zeros(len(targets), classes)
    _, difference = loss_and_difference(logits, targets, smoothing=smoothing)
    return 1.0 / classes - difference


def smoothing_figure(*, smoothing: float, classes: int = CLASSES) -> Figure:
    """Draw the target for each true class, and the loss as a function of the true class's probability."""
    target = smoothed_target(torch.arange(classes), classes=classes, smoothing=smoothing)
    with drawing_style():
        figure = new_figure(9.5, 3.8)
        left, right = figure.subplots(1, 2)
        drawn = matrix(left, target.numpy())
        for (row, column), share in np.ndenumerate(target.numpy()):
            colour = "white" if share > 0.5 else "#555555"
            left.text(column, row, f"{share:.2g}", ha="center", va="center", color=colour, fontsize=6)
        left.set(title=f"target for ε = {smoothing:g}, {classes} classes", xlabel="class", ylabel="true class")
        figure.colorbar(drawn, ax=left, fraction=0.05)
        truth = np.linspace(0.02, 0.999, 400)
        for epsilon, style in dict.fromkeys([(0.0, ":"), (smoothing, "-")]):
            losses = [_loss(share, classes=classes, smoothing=epsilon) for share in truth]
            right.plot(truth, losses, style, color=INK, label=f"ε = {epsilon:g}")
        right.set(title="loss", xlabel="probability of the true class, the rest shared equally", ylim=(0, None))
        right.legend(frameon=False)
    return figure


def _loss(truth: float, *, classes: int, smoothing: float) -> float:
    """Return the loss of a prediction with probability `truth` for the true class, and the rest shared equally."""
    probabilities = torch.full((1, classes), (1.0 - truth) / (classes - 1))
    probabilities[0, 0] = truth
    return float(smoothed_loss(probabilities.log(), torch.tensor([0]), smoothing=smoothing))
