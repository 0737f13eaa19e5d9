"""The positional encodings as a heat map, and the dot product of any two positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyheads.inspection.figures.canvas import drawing_style, new_figure
from manyheads.inspection.positions import PositionTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def positions_figure(table: PositionTable) -> Figure:
    """Draw the encodings [length, width] beside their dot products [length, length]."""
    length, width = table.encodings.shape
    with drawing_style():
        figure = new_figure(11.0, 4.2)
        left, right = figure.subplots(1, 2, width_ratios=[1.9, 1])
        largest = float(np.abs(table.encodings).max())
        drawn = left.imshow(
            table.encodings, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest"
        )
        left.set(title=f"positional encodings, {length} × {width}", xlabel="dimension", ylabel="position")
        figure.colorbar(drawn, ax=left, fraction=0.05)
        drawn = right.imshow(table.dot_products, cmap="viridis", interpolation="nearest")
        right.set(title="their dot products", xlabel="position", ylabel="position")
        figure.colorbar(drawn, ax=right, fraction=0.05)
    return figure
