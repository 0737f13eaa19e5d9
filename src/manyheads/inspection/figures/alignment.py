"""Attention from target to source as a heat map per text, with the largest weight of each target token framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manyheads.inspection.alignment import Alignment, Level
from manyheads.inspection.figures.canvas import INK, drawing_style, label_tokens, matrix, new_figure, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = {"token": 0.24, "word": 0.6}  # inches


def alignment_figure(alignments: Sequence[Alignment], *, level: Level = "token") -> Figure:
    """Draw the weights between target and source tokens (or words), texts side by side."""
    labels = [
        alignment.words() if level == "word" else (alignment.source_tokens, alignment.target_tokens)
        for alignment in alignments
    ]
    with drawing_style(token for sides in labels for side in sides for token in side):
        width = sum(0.7 + CELL[level] * len(source) for source, _ in labels)
        figure = new_figure(0.5 + width, 1.3 + CELL[level] * max(len(target) for _, target in labels))
        sizes = [max(1, len(source)) for source, _ in labels]
        panels = figure.subplots(1, len(alignments), squeeze=False, width_ratios=sizes)[0]
        for axes, alignment, (source, target) in zip(panels, alignments, labels, strict=True):
            matrix(axes, alignment.word_weights() if level == "word" else alignment.weights)
            label_tokens(axes, rows=target, columns=source)
            for column, row in alignment.pairs(level):
                axes.add_patch(_frame(column, row))
            axes.set_title(printable("".join(alignment.source_tokens[:-1]).replace("▁", " ").strip()))
        panels[0].set_ylabel("what it writes")
        figure.supxlabel("what it reads", fontsize=9)
    return figure


def _frame(column: int, row: int) -> object:
    """Return a frame around one cell."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=0.8)
