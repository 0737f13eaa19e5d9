"""How much attention each head pays to the piece and to each memory, and to how far back, as two heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyheads.inspection.figures.canvas import drawing_style, label_tokens, matrix, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from manyheads.inspection.earlier_text import EarlierTextView

CELL = 0.3  # inches per head or column


def earlier_text_figure(view: EarlierTextView) -> Figure:
    """Draw a row for each head: on the left the parts that it reads, on the right the distances."""
    with drawing_style():
        columns = len(view.parts) + len(view.ranges)
        figure = new_figure(4.0 + CELL * columns, 2.0 + CELL * len(view.heads))
        left, right = figure.subplots(1, 2, width_ratios=[len(view.parts), len(view.ranges)])
        matrix(left, view.shares)
        label_tokens(left, rows=view.heads, columns=view.parts)
        drawn = matrix(right, view.distances)
        label_tokens(right, rows=None, columns=view.ranges)
        right.set_title("tokens back")
        figure.colorbar(drawn, ax=[left, right], label="share of attention", fraction=0.05)
    return figure
