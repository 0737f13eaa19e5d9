"""The line of a text that an offset is in."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of a text, counted from 1."""

    def __init__(self, text: str) -> None:
        self._starts = array("q", [0])  # a list would take five times the memory
        self._starts.extend(match.end() for match in _LINE_END.finditer(text))

    def number(self, offset: int) -> int:
        """Return the number of the line at an offset."""
        return bisect_right(self._starts, offset)
