"""Source and target: what the model looks at while it writes, one matrix per text, with the strongest look framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manyheads.inspection.alignment import Alignment, Level
from manyheads.inspection.figures.canvas import INK, drawing, label_tokens, matrix, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = {"token": 0.24, "word": 0.6}  # inches


def alignment_figure(alignments: Sequence[Alignment], *, level: Level = "token") -> Figure:
    """Draw how much each target token (or word) looks at each source token (or word), texts side by side."""
    labels = [one.words() if level == "word" else (one.source_tokens, one.target_tokens) for one in alignments]
    with drawing(token for sides in labels for side in sides for token in side):
        width = sum(0.7 + CELL[level] * len(source) for source, _ in labels)
        figure = new_figure(0.5 + width, 1.3 + CELL[level] * max(len(target) for _, target in labels))
        sizes = [max(1, len(source)) for source, _ in labels]
        panels = figure.subplots(1, len(alignments), squeeze=False, width_ratios=sizes)[0]
        for axes, one, (source, target) in zip(panels, alignments, labels, strict=True):
            matrix(axes, one.word_weights() if level == "word" else one.weights)
            label_tokens(axes, rows=target, columns=source)
            for column, row in one.pairs(level):
                axes.add_patch(_frame(column, row))
            axes.set_title("".join(one.source_tokens[:-1]).replace("▁", " ").strip())
        panels[0].set_ylabel("what it writes")
        figure.supxlabel("what it reads", fontsize=9)
    return figure


def _frame(column: int, row: int) -> object:
    """Return a frame around one cell."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=0.8)
