"""Steps in depth over the tokens of a text: a bar for each token, as high as the step at which it halts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyheads.inspection.figures.canvas import drawing_style, new_figure, printable, token_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from manyheads.inspection.halting import HaltingView

TOKEN = 0.35  # inches


def halting_figure(view: HaltingView) -> Figure:
    """Draw the steps that each token takes in the encoder and in the decoder."""
    with drawing_style([view.text, view.translation]):
        longest = max(len(side.tokens) for side in view.sides.values())
        figure = new_figure(1.5 + TOKEN * longest, 2.5 * len(view.sides))
        for place, (name, side) in enumerate(view.sides.items(), start=1):
            axes = figure.add_subplot(len(view.sides), 1, place)
            axes.bar(range(len(side.tokens)), side.steps)
            axes.set(title=name, ylabel="steps", ylim=(0, view.most), yticks=range(view.most + 1))
            axes.set_xticks(range(len(side.tokens)), [token_label(token) for token in side.tokens], rotation=90)
        figure.suptitle(printable(f"{view.text} {view.translation}"), wrap=True)
    return figure
