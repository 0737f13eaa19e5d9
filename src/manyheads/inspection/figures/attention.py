"""Attention as heat maps: each row is a query token, each column a key token."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from manyheads.inspection.figures.canvas import drawing_style, label_tokens, matrix, new_figure, printable
from manyheads.inspection.kinds import Kind
from manyheads.inspection.views import AttentionView, Everything, index_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = 0.24  # inches per token, so that its label is readable
SMALL_CELL = 0.07  # inches per token in a figure of many matrices without labels
ACROSS = 4  # maximum number of matrices side by side


def head_figure(view: AttentionView, head: int) -> Figure:
    """Draw one head, counted from 1."""
    weights = view.weights[index_of(head, view.heads, "head")]
    with drawing_style([*view.queries, *view.keys]):
        figure = new_figure(2.4 + CELL * len(view.keys), 1.4 + CELL * len(view.queries))
        axes = figure.add_subplot()
        drawn = matrix(axes, weights)
        label_tokens(axes, rows=view.queries, columns=view.keys)
        axes.set_title(f"{_name(view.kind)}, layer {view.layer}, head {head}")
        figure.colorbar(drawn, ax=axes, label="weight", fraction=0.05)
    return figure


def layer_figure(view: AttentionView) -> Figure:
    """Draw all heads of one layer, side by side."""
    across = min(ACROSS, view.heads)
    down = math.ceil(view.heads / across)
    with drawing_style([*view.queries, *view.keys]):
        width, height = CELL * len(view.keys), CELL * len(view.queries)
        figure = new_figure(1.0 + across * max(1.6, width), 0.9 + down * (0.6 + max(1.2, height)))
        for head, weights in enumerate(view.weights, start=1):
            axes = figure.add_subplot(down, across, head)
            matrix(axes, weights)
            label_tokens(axes, rows=view.queries if (head - 1) % across == 0 else None, columns=view.keys)
            axes.set_title(f"head {head}")
        figure.suptitle(f"{_name(view.kind)}, layer {view.layer}")
    return figure


def layers_figure(seen: Everything, kind: Kind) -> Figure:
    """Draw all heads of all layers, one row per layer, the last layer on top; the title has the text."""
    seen.weights(kind, 1)  # raises the error for a kind that the model does not have
    layers, heads = seen.layers[kind], seen.heads
    queries, keys = seen.queries(kind), seen.keys(kind)
    with drawing_style([*queries, *keys]):
        width, height = max(1.0, SMALL_CELL * len(keys)), max(1.0, SMALL_CELL * len(queries))
        figure = new_figure(0.8 + heads * width, 1.2 + layers * (0.3 + height))
        grid = figure.subplots(layers, heads, squeeze=False)
        for layer, row in zip(range(layers, 0, -1), grid, strict=True):
            for head, (axes, weights) in enumerate(zip(row, seen.weights(kind, layer), strict=True), start=1):
                matrix(axes, weights)
                label_tokens(axes, rows=None, columns=None)
                axes.set_title(f"head {head}" if layer == layers else "")
            row[0].set_ylabel(f"layer {layer}")
        texts = {"encoder": seen.text, "decoder": seen.translation, "cross": f"{seen.text} → {seen.translation}"}
        figure.suptitle(f"{_name(kind)}: {printable(texts[kind])}", wrap=True)
    return figure


def _name(kind: Kind) -> str:
    """Return the name of a kind of attention."""
    return {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}[kind]
