"""Beam search as a tree, with a column per step and the most probable node on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyheads.inspection.beam_tree import BeamTree
from manyheads.inspection.figures.canvas import INK, SMALL, drawing_style, new_figure, printable, token_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN, ROW = 0.85, 0.36  # inches
BOXES: dict[str, dict[str, object]] = {
    "best": {"facecolor": "#bcd0ea", "edgecolor": INK},
    "finished": {"facecolor": "white", "edgecolor": INK, "linewidth": 1.6},
    "kept": {"facecolor": "white", "edgecolor": INK},
    "dropped": {"facecolor": "white", "edgecolor": "#999999", "linestyle": ":"},
}


def beam_figure(tree: BeamTree) -> Figure:
    """Draw every hypothesis that was in the beam; the best one is filled, dropped ones have a dotted border."""
    layout = tree.layout()
    columns, rows = (1 + max(place[axis] for place in layout.values()) for axis in (0, 1))
    with drawing_style([tree.translation, *(node.token for node in tree.nodes)]):
        figure = new_figure(0.6 + COLUMN * columns, 0.9 + ROW * rows)
        axes = figure.add_subplot()
        for node in tree.nodes:
            column, row = layout[node.id]
            if node.parent is not None:
                left, above = layout[node.parent]
                axes.plot([left, column], [above, row], color=INK, alpha=0.35, linewidth=0.8, zorder=1)
            box: dict[str, Any] = {"boxstyle": "round", **BOXES[node.state]}
            label = token_label(node.token)
            axes.text(column, row, label, ha="center", va="center", fontsize=SMALL, bbox=box, zorder=2)
        axes.set(xlim=(-0.6, columns - 0.4), ylim=(rows - 0.4, -0.6))
        axes.set_title(f"beam {tree.beam}: {printable(tree.translation)}", wrap=True)
        axes.axis("off")
    return figure
