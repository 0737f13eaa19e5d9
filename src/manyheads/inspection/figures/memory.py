"""The memory of a memory network as a heat map: each row is a fact, each column a hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyheads.inspection.figures.canvas import drawing_style, label_tokens, matrix, new_figure, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from manyheads.inspection.remembering import MemoryView

CELL, LETTER = 0.3, 0.07  # inches per fact or hop, and per letter of a fact


def memory_figure(view: MemoryView) -> Figure:
    """Draw the weights of all facts in all hops; the title has the question and the answer."""
    with drawing_style([*view.facts, view.question, view.answer]):
        longest = max(map(len, view.facts))
        figure = new_figure(2.4 + LETTER * longest + CELL * len(view.hops), 1.6 + CELL * len(view.facts))
        axes = figure.add_subplot()
        drawn = matrix(axes, view.weights)
        label_tokens(axes, rows=view.facts, columns=view.hops)
        figure.suptitle(printable(f"{view.question} {view.answer}"), wrap=True)
        figure.colorbar(drawn, ax=axes, label="weight", fraction=0.05)
    return figure
