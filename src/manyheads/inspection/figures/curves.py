"""Training curves: loss, scores and learning rate of one or several runs, from their metrics.jsonl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyheads.errors import ManyheadsError
from manyheads.inspection.figures.canvas import drawing_style, new_figure
from manyheads.runs.folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = tuple[list[int], list[float]]
"""Steps, and the value measured at each."""


def curves_figure(runs: Sequence[RunFolder]) -> Figure:
    """Draw one panel per measurement, with a line for each run."""
    measured = {_label(run, runs): list(run.metrics()) for run in runs}
    for run, entries in zip(runs, measured.values(), strict=True):
        if not entries:
            raise ManyheadsError("nothing was measured in this run yet.", where=str(run.metrics_file))
    panels = ["loss", *_scores(measured), "rate"]
    with drawing_style(measured):
        figure = new_figure(4.4 * len(panels), 3.6)
        for axes, name in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            for number, (label, entries) in enumerate(measured.items()):
                for kind, style in (("train", "-"), ("validation", "o--")):
                    steps, values = curve(entries, kind, name)
                    if steps:
                        legend = f"{label}, {kind}" if name == "loss" else label
                        axes.plot(steps, values, style, color=f"C{number}", label=legend, markersize=3, linewidth=1.2)
            axes.set(title={"rate": "learning rate"}.get(name, name), xlabel="step")
            axes.legend(frameon=False)
    return figure


def curve(entries: Sequence[dict[str, Any]], kind: str, name: str) -> Curve:
    """Return the steps at which a value was measured, and the values."""
    points = [(entry["step"], entry[name]) for entry in entries if entry.get("kind") == kind and name in entry]
    return [step for step, _ in points], [float(value) for _, value in points]


def _scores(measured: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the names of all values but the loss that validation measured, in their order."""
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
    """Return the name of a run's folder, or its whole path if another run has the same name."""
    name = run.path.resolve().name
    unique = sum(other.path.resolve().name == name for other in runs) == 1
    return name if unique else str(run.path)
