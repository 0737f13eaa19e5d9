"""Which texts of a document are translated, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from manyheads.documents.interface import Document, Filling, Segment, Styled

Which = Literal["needed", "empty", "all"]
"""`needed`: texts without a translation, or with one that is marked as unsure; `empty`: only those without one."""


@dataclass(frozen=True)
class Counts:
    """The texts of a document: all, those that are left alone, and those to translate, with their words."""

    texts: int
    left: int
    unsure: int
    to_translate: int
    distinct: int
    words: int


@dataclass(frozen=True)
class Selection:
    """The texts of a document that are translated, by their numbers."""

    document: Document
    segments: Sequence[Segment]
    numbers: Sequence[int]

    @classmethod
    def of(cls, document: Document, which: Which) -> Selection:
        """Select the texts of a document."""
        segments = document.segments
        return cls(document, segments, [number for number, one in enumerate(segments) if _is_selected(one, which)])

    @cached_property
    def lines(self) -> dict[Styled, int]:
        """The distinct texts to translate, in the order of the document, and the line on which each is first."""
        first: dict[Styled, int] = {}
        for number in self.numbers:
            first.setdefault(self.segments[number].source, self.segments[number].line)
        return first

    def counts(self) -> Counts:
        """Count the texts."""
        texts = sum(bool(segment.source.text.strip()) for segment in self.segments)
        return Counts(
            texts=texts,
            left=texts - len(self.numbers),
            unsure=sum(self.segments[number].is_unsure for number in self.numbers),
            to_translate=len(self.numbers),
            distinct=len(self.lines),
            words=sum(len(source.text.split()) for source in self.lines),
        )

    def fill(self, translations: Mapping[Styled, Styled], filling: Filling) -> str:
        """Return the document with the translations of the selected texts."""
        filled: list[Styled | None] = [None] * len(self.segments)
        for number in self.numbers:
            filled[number] = translations[self.segments[number].source]
        return self.document.fill(filled, filling)


def _is_selected(segment: Segment, which: Which) -> bool:
    """Return whether a text is translated; one without any characters never is."""
    if not segment.source.text.strip():
        return False
    if which == "all" or segment.target is None:
        return True
    return which == "needed" and segment.is_unsure
