"""The panels of a conclusion as one figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from manyheads.inspection.figures.canvas import drawing_style, label_tokens, new_figure
from manyheads.studies.conclusion import Conclusion, HeatMap, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
WIDTH, HEIGHT = 4.6, 4.6  # inches of a panel with the legend below it
LEGEND_COLUMNS = 2


def conclusion_figure(conclusion: Conclusion) -> Figure:
    """Draw the panels side by side, at most three in a row."""
    columns = min(MOST_COLUMNS, len(conclusion.panels))
    rows = math.ceil(len(conclusion.panels) / columns)
    with drawing_style():
        figure = new_figure(WIDTH * columns, HEIGHT * rows)
        places = figure.subplots(rows, columns, squeeze=False).flatten()
        for axes, panel in zip(places, conclusion.panels, strict=False):
            _draw(axes, panel)
        for axes in places[len(conclusion.panels) :]:
            axes.set_axis_off()
    return figure


def _draw(axes: Axes, panel: Panel | HeatMap) -> None:
    """Draw a panel."""
    if isinstance(panel, HeatMap):
        drawn = axes.imshow(np.asarray(panel.values), cmap="viridis", aspect="auto", interpolation="nearest")
        axes.figure.colorbar(drawn, ax=axes)
        if panel.columns:
            label_tokens(axes, rows=[*panel.rows], columns=[*panel.columns])
    else:
        _draw_curves(axes, panel)
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)


def _draw_curves(axes: Axes, panel: Panel) -> None:
    """Draw the lines of a panel, the bounds of their values as areas."""
    for number, curve in enumerate(panel.curves):
        colour, style = f"C{number % 10}", "--" if curve.dashed else "o-"
        axes.plot(curve.x, curve.y, style, color=colour, label=curve.label, markersize=3, linewidth=1.2)
        if curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=LEGEND_COLUMNS, frameon=False)
