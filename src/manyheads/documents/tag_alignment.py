"""Where the tags of a sentence go in its translation, by the alignment of the words.

A tag around some words of the source goes around the run of words in the translation with the most words aligned to
them and the fewest aligned to others. Where nothing is aligned with them, it goes around the word at the same share of
the way. An element is placed inside of the one that it is in, and never over a word of one beside it. So elements nest
as in the source, and may change their order as words do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from manyheads.documents.interface import Tag
from manyheads.documents.split_text import Span
from manyheads.documents.word_boundaries import WordBoundaries, has_alphanumeric

_DEEPEST = 30  # elements inside each other that are placed by the alignment


class Link(NamedTuple):
    """A word of a sentence and a word of its translation that are aligned: their spans, in characters."""

    source: Span
    target: Span


class Mark(NamedTuple):
    """Tags at one offset, which are placed together, and whether a space must be before or after them.

    `is_end`: they stand at the end of a word, and not at the beginning of one.
    """

    offset: int
    tags: tuple[Tag, ...]
    is_end: bool = False
    space_before: bool = False
    space_after: bool = False

    @property
    def is_open(self) -> bool:
        """Whether this is one opening tag."""
        return len(self.tags) == 1 and self.tags[0].kind == "open"

    @property
    def is_close(self) -> bool:
        """Whether this is one closing tag."""
        return len(self.tags) == 1 and self.tags[0].kind == "close"


@dataclass
class _Element:
    """An opening mark, what is inside of it, and the closing mark; or a mark that stands alone."""

    begin: Mark
    end: Mark
    inside: list[_Element] = field(default_factory=list)

    @property
    def length(self) -> int:
        """The characters of the source in it."""
        return self.end.offset - self.begin.offset


def aligned_marks(
    marks: Sequence[Mark], start: int, source: str, output: WordBoundaries, links: Sequence[Link]
) -> list[tuple[int, Mark]] | None:
    """Return the marks of a sentence that begins at `start`, each with its offset in the translation, in order.

    None if an element begins or ends in another sentence: its marks are placed by their share of the way.
    """
    elements = _elements(marks)
    if elements is None:
        return None
    return list(_Placing(start, source, output, links).marks(elements, (0, len(output.text))))


def _elements(marks: Sequence[Mark]) -> list[_Element] | None:
    """Return marks as elements; None if one is not complete, or if they are nested too deeply."""
    levels: list[list[_Element]] = [[]]
    for mark in marks:
        if mark.is_close:
            if len(levels) == 1:
                return None
            levels.pop()
            levels[-1][-1].end = mark
        elif _is_balanced(mark.tags) or mark.is_open:
            levels[-1].append(_Element(mark, mark))
            if mark.is_open:
                levels.append(levels[-1][-1].inside)
        else:
            return None
        if len(levels) > _DEEPEST:
            return None
    return levels[0] if len(levels) == 1 else None


def _is_balanced(tags: Sequence[Tag]) -> bool:
    """Return whether as many tags are closed as opened, and none before it is opened."""
    depth = 0
    for tag in tags:
        depth += (tag.kind == "open") - (tag.kind == "close")
        if depth < 0:
            return False
    return depth == 0


class _Placing:
    """The elements of a sentence, put into its translation."""

    def __init__(self, start: int, source: str, output: WordBoundaries, links: Sequence[Link]) -> None:
        self._start, self._source, self._output, self._links = start, source, output, links
        self._linked = {
            word: [link.source for link in links if _overlap(link.target, word)] for word in output.readable
        }

    def marks(self, elements: Sequence[_Element], within: Span) -> Iterator[tuple[int, Mark]]:
        """Yield the marks of elements inside a span of the translation, in order."""
        placed: list[tuple[Span, _Element]] = []
        free = [word for word in self._output.readable if _is_inside(word, within)]
        for element in sorted((one for one in elements if one.end is not one.begin), key=lambda one: one.length):
            span = self._span(element, free, within)
            placed.append((span, element))
            free = [word for word in free if not _overlap(word, span)]
        for element in (one for one in elements if one.end is one.begin):
            offset = self._offset(element.begin, within, [span for span, _ in placed])
            placed.append(((offset, offset), element))
        for span, element in sorted(placed, key=itemgetter(0)):
            yield span[0], element.begin
            if element.end is not element.begin:
                yield from self.marks(element.inside, span)
                yield span[1], element.end

    def _span(self, element: _Element, free: Sequence[Span], within: Span) -> Span:
        """Return the span of an element in the translation: one or more of the words that are free."""
        start, stop = element.begin.offset - self._start, element.end.offset - self._start
        text = self._source[start:stop]
        if not free:
            return within[0], within[0]
        if has_alphanumeric(text):
            if not has_alphanumeric(self._source[:start] + self._source[stop:]):
                return self._with_punctuation(text, (free[0][0], free[-1][1]), within)
            if run := self._run((start, stop), free):
                return self._with_punctuation(text, run, within)
        middle = (start + stop) / 2 / max(1, len(self._source)) * len(self._output.text)
        nearest = min(free, key=lambda word: abs((word[0] + word[1]) / 2 - middle))
        return nearest if text.strip() else (nearest[0], nearest[0])

    def _run(self, span: Span, free: Sequence[Span]) -> Span | None:
        """Return the run of free words with the most words aligned to a span of the source and the fewest to others."""
        best: tuple[int, Span | None] = (0, None)
        total = begin = previous = 0
        for word in free:
            is_cut = has_alphanumeric(self._output.text[previous : word[0]])  # words of another element are between
            if total <= 0 or is_cut:
                total, begin = 0, word[0]
            total += self._vote(word, span)
            best = max(best, (total, (begin, word[1])), key=itemgetter(0))
            previous = word[1]
        return best[1]

    def _vote(self, word: Span, span: Span) -> int:
        """Return 1 for a word of the translation aligned to a span of the source, -1 if to others, 0 if to nothing."""
        linked = self._linked[word]
        if not linked:
            return 0
        return 1 if any(_overlap(source, span) for source in linked) else -1

    def _with_punctuation(self, text: str, run: Span, within: Span) -> Span:
        """Return a run of words with as much of the punctuation beside it as there is in the source."""
        start, stop = run
        output = self._output.text
        readable = [number for number, character in enumerate(text) if character.isalnum()]
        for _ in text[: readable[0]].strip():
            if start > within[0] and _is_punctuation(output[start - 1]):
                start -= 1
        for _ in text[readable[-1] + 1 :].strip():
            if stop < within[1] and _is_punctuation(output[stop]):
                stop += 1
        return start, stop

    def _offset(self, mark: Mark, within: Span, taken: Sequence[Span]) -> int:
        """Return where a mark that stands alone goes: beside the word that is aligned with the one beside it."""
        inside = mark.offset - self._start
        if mark.is_end:
            near = max((link for link in self._links if link.source[1] <= inside), key=_source_of, default=None)
        else:
            near = min((link for link in self._links if link.source[0] >= inside), key=_source_of, default=None)
        if near is not None:
            offset = near.target[1 if mark.is_end else 0]
        else:
            share = inside / max(1, len(self._source))
            offset = self._output.nearest(share, is_end=mark.is_end, minimum=0)
        for start, stop in taken:
            if start < offset < stop:
                offset = stop if mark.is_end else start
        return min(max(offset, within[0]), within[1])


def _source_of(link: Link) -> Span:
    """Return the word of the source."""
    return link.source


def _overlap(first: Span, second: Span) -> bool:
    """Return whether two spans have a character in common."""
    return first[0] < second[1] and second[0] < first[1]


def _is_inside(word: Span, span: Span) -> bool:
    """Return whether a word is inside a span."""
    return span[0] <= word[0] and word[1] <= span[1]


def _is_punctuation(character: str) -> bool:
    """Return whether a character is neither a letter, nor a digit, nor white space."""
    return not character.isalnum() and not character.isspace()
