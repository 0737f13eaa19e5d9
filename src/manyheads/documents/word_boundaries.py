"""Where the words of a sentence begin and end: the places for inline tags."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from manyheads.documents.split_text import Span

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


class WordBoundaries:
    """The boundaries of the words in a sentence: beginnings for opening tags, ends for closing tags."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[Span] = [word.span() for word in _WORD.finditer(text)]
        """Words, characters of Chinese and Japanese, and marks of punctuation."""

    @cached_property
    def readable(self) -> list[Span]:
        """The words with a letter or a digit."""
        return [(start, stop) for start, stop in self.words if has_alphanumeric(self.text[start:stop])]

    @property
    def first(self) -> int:
        """The beginning of the first readable word."""
        return self.readable[0][0] if self.readable else 0

    @property
    def last(self) -> int:
        """The end of the last readable word."""
        return self.readable[-1][1] if self.readable else len(self.text)

    @cached_property
    def _begins(self) -> list[int]:
        """Where words begin."""
        return [start for start, _ in self.words]

    @cached_property
    def _ends(self) -> list[int]:
        """Where words end."""
        return [stop for _, stop in self.words]

    def nearest(self, fraction: float, *, is_end: bool, minimum: int) -> int:
        """Return the boundary nearest to a fraction of the sentence, not before `minimum`; the end if there is none."""
        boundaries = self._ends if is_end else self._begins
        exact = fraction * len(self.text)
        after = bisect_left(boundaries, max(exact, minimum))
        near = [boundary for boundary in boundaries[max(0, after - 1) : after + 1] if boundary >= minimum]
        return min(near, key=lambda boundary: abs(boundary - exact), default=len(self.text))


def has_alphanumeric(text: str) -> bool:
    """Return whether a text has a letter or a digit, and not only punctuation."""
    return any(map(str.isalnum, text))
