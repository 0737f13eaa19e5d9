"""How training went: loss, scores and learning rate of one or several runs, from their metrics.jsonl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyheads.errors import ManyheadsError
from manyheads.inspection.figures.canvas import drawing, new_figure
from manyheads.runs.folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = tuple[list[int], list[float]]
"""Steps and what was measured at them."""


def curves_figure(runs: Sequence[RunFolder]) -> Figure:
    """Draw one panel per thing measured, with a line for each run."""
    measured = {_label(run, runs): list(run.metrics()) for run in runs}
    for run, entries in zip(runs, measured.values(), strict=True):
        if not entries:
            raise ManyheadsError("nothing was measured in this run yet.", where=str(run.metrics_file))
    panels = ["loss", *_scores(measured), "rate"]
    with drawing(measured):
        figure = new_figure(4.4 * len(panels), 3.6)
        for axes, name in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            for number, (label, entries) in enumerate(measured.items()):
                for kind, style in (("train", "-"), ("validation", "o--")):
                    steps, values = curve(entries, kind, name)
                    if steps:
                        what = f"{label}, {kind}" if name == "loss" else label
                        axes.plot(steps, values, style, color=f"C{number}", label=what, markersize=3, linewidth=1.2)
            axes.set(title={"rate": "learning rate"}.get(name, name), xlabel="step")
            axes.legend(frameon=False)
    return figure


def curve(entries: Sequence[dict[str, Any]], kind: str, name: str) -> Curve:
    """Return the steps at which something was measured, and its values."""
    found = [(one["step"], one[name]) for one in entries if one.get("kind") == kind and name in one]
    return [step for step, _ in found], [float(value) for _, value in found]


def _scores(measured: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the names of the numbers that validation measured besides the loss, in their order."""
    names = [
        name
        for entries in measured.values()
        for entry in entries
        if entry.get("kind") == "validation"
        for name, value in entry.items()
        if name not in ("step", "loss") and isinstance(value, int | float)
    ]
    return list(dict.fromkeys(names))


def _label(run: RunFolder, runs: Sequence[RunFolder]) -> str:
    """Return a run's folder name; its whole path where another run has the same name."""
    name = run.path.resolve().name
    alone = sum(other.path.resolve().name == name for other in runs) == 1
    return name if alone else str(run.path)
