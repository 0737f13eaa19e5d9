"""HTML as sentences and back: tags are kept, text is translated.

Text is translated by block (a paragraph, a cell, a heading), so a sentence with bold words in it is one sentence. Tags
around a whole sentence stay around it. The position of a tag within a sentence is unknown in its translation. So the
tag is put at the same fraction of the sentence, moved to the nearest word boundary; order and nesting are kept. These
are kept unchanged, with a space on each side where there was one: comments, attributes, and the content of script,
style, pre, code, textarea, svg, math, `translate="no"` and `class="notranslate"`. Entities are decoded before
translation and encoded after it.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Literal

from manyheads.decoding.text.sentences import SplitText
from manyheads.serving.html_parts import Part, html_parts, unescaped


def _names(text: str) -> frozenset[str]:
    """Return the set of names in a text."""
    return frozenset(text.split())


INLINE = _names(
    "a abbr acronym b bdi bdo big cite del dfn em font i ins label mark q rp rt ruby s small span strike strong sub "
    "sup tt u wbr img"
)
VOID = _names("area base br col embed hr img input link meta param source track wbr")
INLINE_UNTOUCHED = _names("code kbd samp var")
UNTOUCHED = _names("script style pre textarea svg math template iframe noscript object") | INLINE_UNTOUCHED

Kind = Literal["text", "open", "close", "atom", "block"]  # an atom is inline, and not part of the text
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """A part of the markup, unchanged."""

    kind: Kind
    raw: str


def read_pieces(markup: str) -> Iterator[Piece]:
    """Split markup into pieces; joined, they are the markup."""
    untouched, depth = "", 0  # the current element that is kept unchanged, and how often it is nested in itself
    for part in html_parts(markup):
        if depth:
            yield Piece("atom", part.raw)
            is_nested = part.kind == "start" and part.name == untouched and not part.is_self_closing
            depth += is_nested - (part.kind == "end" and part.name == untouched)
        elif part.kind == "start" and _is_untouched(part):
            yield Piece("atom" if part.name in INLINE | INLINE_UNTOUCHED else "block", part.raw)
            untouched, depth = part.name, 1
        else:
            yield Piece(_kind(part), part.raw)


def _kind(part: Part) -> Kind:
    """Return the kind of a part outside of elements that are kept unchanged."""
    match part.kind:
        case "text":
            return "text"
        case "comment":
            return "atom"
        case "declaration":
            return "block"
        case "start" | "end" if part.name not in INLINE:
            return "block"
        case "end":
            return "close"
        case _:
            return "atom" if part.name in VOID or part.is_self_closing else "open"


def _is_untouched(part: Part) -> bool:
    """Return whether a start tag begins an element that is not to be translated."""
    if part.name in VOID or part.is_self_closing:
        return False
    if part.name in UNTOUCHED:
        return True
    attributes = part.attributes
    return attributes.get("translate", "").lower() == "no" or "notranslate" in attributes.get("class", "").split()


class WordBoundaries:
    """The boundaries of the words in a sentence: beginnings for opening tags, ends for closing tags."""

    def __init__(self, text: str) -> None:
        words = list(_WORD.finditer(text))
        self._length = len(text)
        self._begins = [word.start() for word in words]
        self._ends = [word.end() for word in words]
        readable = [word for word in words if _has_alphanumeric(word[0])]
        self.first = readable[0].start() if readable else 0
        self.last = readable[-1].end() if readable else self._length

    def nearest(self, fraction: float, kind: Kind, minimum: int) -> int:
        """Return the boundary nearest to a fraction of the sentence, not before `minimum`; the end if there is none."""
        boundaries = self._ends if kind == "close" else self._begins
        exact = fraction * self._length
        after = bisect_left(boundaries, max(exact, minimum))
        near = [boundary for boundary in boundaries[max(0, after - 1) : after + 1] if boundary >= minimum]
        return min(near, key=lambda boundary: abs(boundary - exact), default=self._length)


def _has_alphanumeric(text: str) -> bool:
    """Return whether a text has a letter or a digit, and not only punctuation."""
    return any(map(str.isalnum, text))


@dataclass(frozen=True)
class Span:
    """A sentence, or a gap between two: its offset and text in the source, and its offset and text in the output."""

    start: int
    source: str
    output_start: int
    output: str
    is_sentence: bool

    @cached_property
    def boundaries(self) -> WordBoundaries:
        """The word boundaries of the output."""
        return WordBoundaries(self.output)

    @cached_property
    def readable(self) -> tuple[int, int]:
        """The offsets of the first and the last letter or digit of the source; without any, its length and -1."""
        offsets = [offset for offset, character in enumerate(self.source) if character.isalnum()]
        return (offsets[0], offsets[-1]) if offsets else (len(self.source), -1)

    def output_offset(self, offset: int, kind: Kind, minimum: int) -> int:
        """Return the offset in the output of a tag at an offset of the source, at or after `minimum`."""
        inside, length = offset - self.start, len(self.source)
        if inside == 0:
            return self.output_start
        if inside == length:
            return self.output_start + len(self.output)
        if not self.is_sentence:
            # The output of a gap is the gap itself, one space, or nothing.
            return self.output_start + min(inside, len(self.output))
        # Tags around all words of a sentence stay around all words, with the punctuation outside.
        first, last = self.readable
        if kind == "open" and inside <= first:
            return self.output_start + self.boundaries.first
        if kind == "close" and inside > last:
            return self.output_start + self.boundaries.last
        return self.output_start + self.boundaries.nearest(inside / length, kind, minimum - self.output_start)


@dataclass(frozen=True)
class Mark:
    """Markup to insert at one offset of a block, and whether a space must be before or after it."""

    offset: int
    kind: Kind
    raw: str
    space_before: bool = False
    space_after: bool = False


@dataclass
class Block:
    """Text with inline tags, which is translated together."""

    text: str = ""
    tags: list[tuple[int, Piece]] = field(default_factory=list)  # each with its offset in the text
    split: SplitText = field(default_factory=lambda: SplitText([], [""]))

    def add(self, piece: Piece) -> None:
        """Add the next piece."""
        if piece.kind == "text":
            self.text += unescaped(piece.raw)
        else:
            self.tags.append((len(self.text), piece))

    @property
    def plain(self) -> str:
        """The text as a browser shows it: a line break in HTML is a space, and does not end a sentence."""
        return re.sub(r"[\n\r\t\f]", " ", self.text)

    def render(self, translations: Sequence[str], language: str | None) -> str:
        """Return the block with its tags and its translations as HTML."""
        spans = list(self._spans(translations, self.split.translated_gaps(translations, language)))
        text = "".join(span.output for span in spans)
        marks = list(self._marks())
        rendered, done = "", 0
        for offset, mark in zip(self._output_offsets(spans, marks, text), marks, strict=True):
            rendered += _escape(text[done:offset])
            if mark.space_before and rendered and not rendered[-1].isspace():
                rendered += " "
            rendered += mark.raw
            if mark.space_after and text[offset : offset + 1].isalnum():
                rendered += " "
            done = offset
        return rendered + _escape(text[done:])

    def _spans(self, translations: Sequence[str], gaps: Sequence[str]) -> Iterator[Span]:
        """Yield gaps and sentences in turn; a gap that does not change keeps its line breaks."""
        start = output_start = 0
        for number, (gap, new) in enumerate(zip(self.split.gaps, gaps, strict=True)):
            output = self.text[start : start + len(gap)] if new == gap else new
            yield Span(start, gap, output_start, output, is_sentence=False)
            start, output_start = start + len(gap), output_start + len(output)
            if number < len(translations):
                source, target = self.split.sentences[number], translations[number]
                yield Span(start, source, output_start, target, is_sentence=True)
                start, output_start = start + len(source), output_start + len(target)

    def _marks(self) -> Iterator[Mark]:
        """Yield tags one by one; an atom and the tags around it at the same offset are one mark."""
        for offset, group in groupby(self.tags, key=itemgetter(0)):
            pieces = [piece for _, piece in group]
            closing = list(takewhile(lambda piece: piece.kind == "close", pieces))
            others = pieces[len(closing) :]
            if any(piece.kind == "atom" for piece in others):
                before, after = self.text[max(0, offset - 1) : offset], self.text[offset : offset + 1]
                joined = "".join(piece.raw for piece in others)
                kind: Kind = (
                    "close" if before.strip() else "atom"
                )  # without a space before it, it stays at a word's end
                atom = Mark(offset, kind, joined, before.isspace(), after.isspace())
                yield from (*(Mark(offset, piece.kind, piece.raw) for piece in closing), atom)
            else:
                yield from (Mark(offset, piece.kind, piece.raw) for piece in pieces)

    def _output_offsets(self, spans: list[Span], marks: list[Mark], text: str) -> Iterator[int]:
        """Yield the output offset of each mark, in ascending order; an element with text does not become empty."""
        starts = [span.start for span in spans]
        previous_source = previous = 0
        for mark in marks:
            # Between two spans, an opening tag belongs to the second, and a closing tag to the first.
            number = (bisect_left if mark.kind == "close" else bisect_right)(starts, mark.offset)
            has_text = mark.kind == "close" and mark.offset > previous_source
            offset = spans[max(0, number - 1)].output_offset(mark.offset, mark.kind, previous + has_text)
            if mark.space_after and text[offset - 2 : offset].isspace() and len(text[offset - 2 : offset]) == 2:
                offset -= 1  # of two spaces, one stays on each side
            previous = max(previous, offset)
            previous_source = mark.offset
            yield previous


def _escape(text: str) -> str:
    """Return text as HTML."""
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")


class Markup:
    """An HTML text, whose sentences can be replaced after `split`."""

    def __init__(self, markup: str) -> None:
        self._parts: list[Piece | Block] = []
        for piece in read_pieces(markup):
            if piece.kind == "block":
                self._parts.append(piece)
                continue
            if not self._parts or isinstance(self._parts[-1], Piece):
                self._parts.append(Block())
            block = self._parts[-1]
            assert isinstance(block, Block)
            block.add(piece)

    @property
    def _blocks(self) -> list[Block]:
        """The parts with text."""
        return [part for part in self._parts if isinstance(part, Block)]

    @property
    def plain(self) -> str:
        """The text without markup."""
        return "\n".join(block.plain for block in self._blocks)

    def split(self, split: Callable[[str], SplitText]) -> Markup:
        """Split each block into sentences by a function."""
        for block in self._blocks:
            block.split = split(block.plain)
        return self

    @property
    def sentences(self) -> list[str]:
        """All sentences in order."""
        return [sentence for block in self._blocks for sentence in block.split.sentences]

    def fill(self, translations: Sequence[str], language: str | None = None) -> str:
        """Return the markup with each sentence replaced by its translation."""
        remaining = iter(translations)
        rendered = []
        for part in self._parts:
            if isinstance(part, Piece):
                rendered.append(part.raw)
            else:
                rendered.append(part.render([next(remaining) for _ in part.split.sentences], language))
        return "".join(rendered)
