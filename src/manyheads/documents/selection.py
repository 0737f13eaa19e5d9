"""Which texts of a document are translated, how many there are, and which of their translations may be used.

A translation that would break the program that shows it is not written. Its text stays as it is in the document:
without a translation, or in its own language. So do the other plural forms of its entry.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from manyheads.documents.checks import amended, problems
from manyheads.documents.interface import Document, Filling, Segment, Styled

Which = Literal["needed", "empty", "all"]
"""`needed`: texts without a translation, or with one that is marked as unsure; `empty`: only those without one."""


class Text(NamedTuple):
    """A text to translate, and the formats that a program reads in it."""

    styled: Styled
    formats: tuple[str, ...] = ()

    @classmethod
    def of(cls, segment: Segment) -> Text:
        """Return the text of a segment."""
        return cls(segment.source, segment.rules.formats)


class Fault(NamedTuple):
    """A translation that is not used: the line and the key of its text, and what is wrong."""

    line: int
    key: str
    problem: str

    def __str__(self) -> str:
        named = f" '{self.key}'" if self.key else ""
        return f"line {self.line}: left as it is{named}, as its translation would be wrong: {self.problem}"


class Filled(NamedTuple):
    """A document with translations, those that are not used, and how many texts stay as they are because of them."""

    content: str
    faults: tuple[Fault, ...]
    unused: int


@dataclass(frozen=True)
class Counts:
    """The texts of a document: all, those that are left alone, and those to translate, with their words."""

    texts: int
    left: int
    unsure: int
    to_translate: int
    distinct: int
    words: int

    def without(self, unused: int) -> Counts:
        """Return the counts after a translation that left some of the texts to translate as they are."""
        return replace(self, left=self.left + unused, to_translate=self.to_translate - unused)


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
    def lines(self) -> dict[Text, int]:
        """The distinct texts to translate, in the order of the document, and the line on which each is first."""
        first: dict[Text, int] = {}
        for number in self.numbers:
            first.setdefault(Text.of(self.segments[number]), self.segments[number].line)
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
            words=sum(len(one.styled.text.split()) for one in self.lines),
        )

    def fill(self, translations: Mapping[Text, Styled], filling: Filling) -> Filled:
        """Return the document with those translations of the selected texts that may be used."""
        filled: list[Styled | None] = [None] * len(self.segments)
        faults: dict[int, Fault] = {}
        for number in self.numbers:
            segment = self.segments[number]
            filled[number] = translation = _amended(segment, translations[Text.of(segment)])
            if found := problems(segment.source.text, translation.text, segment.rules):
                faults[number] = Fault(segment.line, segment.key, "; ".join(found))
        incomplete = {fault.line for number, fault in faults.items() if self.segments[number].rules.plural is not None}
        for number in self.numbers:
            if number in faults or (incomplete and self._is_form_of(number, incomplete)):
                filled[number] = None
        unused = sum(filled[number] is None for number in self.numbers)
        return Filled(self.document.fill(filled, filling), tuple(faults.values()), unused)

    def _is_form_of(self, number: int, lines: Container[int]) -> bool:
        """Return whether a text is a plural form of an entry on one of these lines."""
        segment = self.segments[number]
        return segment.rules.plural is not None and segment.line in lines


def _amended(segment: Segment, translation: Styled) -> Styled:
    """Return a translation with what can be put right; one with tags, whose offsets would move, as it is."""
    if translation.tags:
        return translation
    return Styled(amended(segment.source.text, translation.text, segment.rules))


def _is_selected(segment: Segment, which: Which) -> bool:
    """Return whether a text is translated; one without any characters never is."""
    if not segment.source.text.strip():
        return False
    if which == "all" or segment.target is None:
        return True
    return which == "needed" and segment.is_unsure
