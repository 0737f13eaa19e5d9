"""What a study concludes: two sentences, tables, and panels of a picture. All of it is data, so it can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = str | int | float | None
"""A value of a table; None where there is none."""


@dataclass(frozen=True)
class Table:
    """A table with a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *(map(shown, row) for row in self.rows)]
        return f"**{self.title}**\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


@dataclass(frozen=True)
class Curve:
    """A line through points (x, y), with the bounds of each y where they are known."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """A part of a picture with lines; a logarithmic axis has only positive values."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class HeatMap:
    """A part of a picture with a matrix, row 0 on top."""

    title: str
    x_label: str
    y_label: str
    values: tuple[tuple[float, ...], ...]
    rows: tuple[str, ...] = ()
    """Labels of the rows, and of the columns; without them, both are numbered."""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conclusion:
    """What came out of a study."""

    sentences: tuple[str, str]
    """What came out, and how certain it is."""
    tables: tuple[Table, ...]
    panels: tuple[Panel | HeatMap, ...]
    numbers: dict[str, float] = field(default_factory=dict)
    """The numbers of the sentences, for programs."""


def shown(cell: Cell) -> str:
    """Return a value as a table shows it, numbers with three digits."""
    match cell:
        case None:
            return "–"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:#.3g}".rstrip(".")
    return cell


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
