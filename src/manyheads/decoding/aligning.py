"""The attention of each target token, taken from the step that writes it or from the step that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from manyheads.config.alignment import Step

Row = TypeVar("Row")


def rows_at(step: Step, rows: Sequence[Row]) -> list[Row]:
    """Return the row of each token, for rows [T, S] in the order of the steps.

    The last token is never read: at the input step too, it has the row of the step that writes it.
    """
    return [*rows] if step == "output" else [*rows[1:], *rows[-1:]]
