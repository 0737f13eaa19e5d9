"""Decoding as a picture: a row per step, with its candidates and its attention weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from manyheads.inspection.figures.canvas import SMALL, drawing_style, label_tokens, matrix, new_figure, token_label
from manyheads.inspection.steps import Step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL, CANDIDATE, LINE = 0.24, 0.95, 0.26  # inches: a source token, a candidate, a step


def steps_figure(steps: Sequence[Step]) -> Figure:
    """Draw the candidates of each step, darker if more probable, beside the largest weight over all heads."""
    source, written = steps[0].source_tokens, [step.token for step in steps]
    ranks = max(len(step.candidates) for step in steps)
    likely = np.zeros((len(steps), ranks), dtype=np.float32)
    for step, row in zip(steps, likely, strict=True):
        row[: len(step.candidates)] = [candidate.probability for candidate in step.candidates]
    texts = [*source, *(candidate.token for step in steps for candidate in step.candidates)]
    with drawing_style(texts):
        widths = [CANDIDATE * ranks, max(1.2, CELL * len(source))]
        figure = new_figure(1.2 + sum(widths), 1.2 + LINE * len(steps))
        left, right = figure.subplots(1, 2, width_ratios=widths)
        matrix(left, likely)
        label_tokens(left, rows=written, columns=None)
        for number, step in enumerate(steps):
            for rank, candidate in enumerate(step.candidates):
                label = f"{token_label(candidate.token)}  {candidate.probability:.0%}"
                colour = "white" if candidate.probability > 0.6 else "black"
                left.text(rank, number, label, ha="center", va="center", fontsize=SMALL, color=colour)
        left.set(title="what was likely", ylabel="what it writes")
        matrix(right, np.stack([step.cross.max(axis=0) for step in steps]))
        label_tokens(right, rows=None, columns=source)
        right.set_title("the strongest look of the last layer")
    return figure
