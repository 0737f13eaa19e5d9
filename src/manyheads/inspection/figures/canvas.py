"""Figures without global state: no window, no `pyplot`, and the same bytes every time."""

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
from manyheads.extras import naming_extras
from manyheads.inspection.figures.fonts import font_families
from manyheads.runs.atomic import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")
LARGEST = 60.0  # inches; viewers do not show larger pictures
SMALL, PLAIN, LARGE = 8, 9, 11  # points
INK = "#1f4e8c"


@contextmanager
def drawing_style(texts: Iterable[str] = ()) -> Iterator[None]:
    """Within the block, use fonts that have the characters of the texts, and draw `$` as a dollar sign."""
    matplotlib = load_matplotlib()
    settings = {
        "font.family": font_families([*texts, "0∎·"]),
        "text.parse_math": False,
        "axes.titlesize": LARGE,
        "axes.labelsize": PLAIN,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "legend.fontsize": PLAIN,
    }
    with matplotlib.rc_context(settings):
        yield


def load_matplotlib() -> Any:  # noqa: ANN401
    """Return matplotlib; if it is missing, raise an error that names the extra to install."""
    with naming_extras("a picture"):
        import matplotlib
    return matplotlib


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with automatic layout."""
    from matplotlib.figure import Figure

    return Figure(figsize=(min(LARGEST, width), min(LARGEST, height)), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the suffix of the file name, complete or not at all."""
    if path.suffix.lower() not in FORMATS:
        raise ManyheadsError(f"a picture's name must end in {' or '.join(FORMATS)}.", where=str(path))
    content = io.BytesIO()
    # Without a date and random ids in the SVG, two files of the same picture are equal.
    with load_matplotlib().rc_context({"svg.hashsalt": "manyheads"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # `font_families` has printed a note already
        kind = path.suffix.lower()[1:]
        figure.savefig(content, format=kind, dpi=130, metadata={"Date": None} if kind == "svg" else None)
    write_file(path, content.getvalue())


def token_label(token: str) -> str:
    """Return the label of a token; a space marker is shown as a dot, the end token as a square."""
    return printable(token.replace(SPACE, "·").replace("</s>", "∎"))


def printable(text: str) -> str:
    """Return a text with dots in place of control characters, which a picture in SVG must not have."""
    return "".join(character if character.isprintable() else "·" for character in text)


def matrix(axes: Axes, values: NDArray[Any], *, largest: float | None = 1.0, colours: str = "Blues") -> Any:  # noqa: ANN401
    """Draw a matrix as a heat map, row 0 on top; `largest` is the value of the darkest colour."""
    return axes.imshow(values, cmap=colours, vmin=0.0, vmax=largest, aspect="auto", interpolation="nearest")


def label_tokens(axes: Axes, *, rows: list[str] | None, columns: list[str] | None) -> None:
    """Label the rows and the columns of a matrix with tokens; None gives no labels."""
    axes.set_yticks(*_ticks(rows))
    axes.set_xticks(*_ticks(columns))
    if columns and max(len(token_label(token)) for token in columns) > 1:
        axes.tick_params(axis="x", labelrotation=90)
    axes.tick_params(length=0)


def _ticks(tokens: list[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    """Return the positions and labels of an axis's ticks."""
    return np.arange(len(tokens or ())), [token_label(token) for token in tokens or ()]
