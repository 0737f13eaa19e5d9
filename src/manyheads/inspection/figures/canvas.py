"""Figures without global state: no window, no `pyplot`, and the same file every time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyheads.data.tokens.tokenizers import SPACE
from manyheads.errors import ManyheadsError
from manyheads.inspection.figures.fonts import families_for
from manyheads.runs.atomic import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")
LARGEST = 60.0  # inches: more pixels than this no viewer shows
SMALL, PLAIN, LARGE = 8, 9, 11  # points
INK = "#1f4e8c"


@contextmanager
def drawing(texts: Iterable[str] = ()) -> Iterator[None]:
    """While the block lasts, labels are drawn in fonts that have the texts' characters, and `$` is a dollar."""
    matplotlib = library()
    settings = {
        "font.family": families_for([*texts, "0∎·"]),
        "text.parse_math": False,
        "axes.titlesize": LARGE,
        "axes.labelsize": PLAIN,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "legend.fontsize": PLAIN,
    }
    with matplotlib.rc_context(settings):
        yield


def library() -> Any:  # noqa: ANN401
    """Return matplotlib; say which extra brings it where it is missing."""
    try:
        import matplotlib
    except ImportError:
        raise ManyheadsError(
            "pictures need the library 'matplotlib', which is not installed.",
            cure="Install it with: pip install 'manyheads[plots]'",
        ) from None
    return matplotlib


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches, which finds places for its parts by itself."""
    from matplotlib.figure import Figure

    return Figure(figsize=(min(LARGEST, width), min(LARGEST, height)), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the name's ending, complete or not at all."""
    if path.suffix.lower() not in FORMATS:
        raise ManyheadsError(f"a picture's name must end in {' or '.join(FORMATS)}.", where=str(path))
    content = io.BytesIO()
    # The date and the random names that SVG would have make two files of the same picture differ.
    with library().rc_context({"svg.hashsalt": "manyheads"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # `families_for` has said so once
        kind = path.suffix.lower()[1:]
        figure.savefig(content, format=kind, dpi=130, metadata={"Date": None} if kind == "svg" else None)
    write_file(path, content.getvalue())


def shown(token: str) -> str:
    """Return a token as a short label: the sign for a space as a dot, the end as a square."""
    label = token.replace(SPACE, "·").replace("</s>", "∎")
    return "".join(one if one.isprintable() else "·" for one in label)


def matrix(axes: Axes, values: NDArray[Any], *, largest: float | None = 1.0, colours: str = "Blues") -> Any:  # noqa: ANN401
    """Draw a matrix as a heat map, row 0 on top; `largest` is the value of the darkest colour."""
    return axes.imshow(values, cmap=colours, vmin=0.0, vmax=largest, aspect="auto", interpolation="nearest")


def label_tokens(axes: Axes, *, rows: list[str] | None, columns: list[str] | None) -> None:
    """Write tokens beside the rows and below the columns of a matrix; None leaves a side empty."""
    axes.set_yticks(*_ticks(rows))
    axes.set_xticks(*_ticks(columns))
    if columns and max(len(shown(one)) for one in columns) > 1:
        axes.tick_params(axis="x", labelrotation=90)
    axes.tick_params(length=0)


def _ticks(tokens: list[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    """Return the places and labels of a side's ticks."""
    return np.arange(len(tokens or ())), [shown(one) for one in tokens or ()]
