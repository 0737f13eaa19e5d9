"""HTML into sentences and back: tags stay, text is translated.

Text is translated by the block (a paragraph, a cell, a heading), so a sentence with bold words in it is one sentence.
Tags around a whole sentence stay around it. Nothing tells where a tag within a sentence belongs in its translation, so
it is put at the same share of the way, moved to the nearest edge of a word; order and nesting are kept. Left as they
are, with a space on either side where there was one: comments, attributes, and whatever stands in script, style, pre,
code, textarea, svg, math, `translate="no"` or `class="notranslate"`. Entities are read before and written again
after translating.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from itertools import accumulate, groupby, pairwise, takewhile
from operator import itemgetter
from typing import Literal

from manyheads.decoding.text.sentences import SplitText


def _names(text: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(text.split())


INLINE = _names(
    "a abbr acronym b bdi bdo big cite del dfn em font i ins label mark q rp rt ruby s small span strike strong sub "
    "sup tt u wbr img"
)
VOID = _names("area base br col embed hr img input link meta param source track wbr")
INLINE_UNTOUCHED = _names("code kbd samp var")
UNTOUCHED = _names("script style pre textarea svg math template iframe noscript object") | INLINE_UNTOUCHED

Kind = Literal["text", "open", "close", "atom", "block"]  # an atom is inline, and no part of the text
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """A part of the markup as it was written."""

    kind: Kind
    raw: str


class _Reader(HTMLParser):
    """Notes where each part begins; what lies between two beginnings is the part, so that nothing is ever lost."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = [0, *accumulate(len(line) + 1 for line in markup.split("\n"))]  # where each line begins
        self._untouched: tuple[str, int] | None = None  # the element that is left as it is, and how deep we are in it
        self.begins: list[tuple[int, Kind]] = []
        self.feed(markup)
        self.close()

    def _note(self, kind: Kind) -> None:
        """Note a part that begins here."""
        line, column = self.getpos()
        self.begins.append((self._lines[line - 1] + column, "atom" if self._untouched else kind))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        if self._untouched:
            name, depth = self._untouched
            self._untouched = name, depth + (tag == name)
            self._note("atom")
        elif tag not in VOID and (tag in UNTOUCHED or _is_untouched(attrs)):
            self._note("atom" if tag in INLINE | INLINE_UNTOUCHED else "block")
            self._untouched = tag, 1
        else:
            self._note("block" if tag not in INLINE else "atom" if tag in VOID else "open")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins and ends at once, as XML writes it."""
        self._note("atom" if tag in INLINE else "block")

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        if self._untouched:
            name, depth = self._untouched
            self._note("atom")
            depth -= tag == name
            self._untouched = (name, depth) if depth else None
        else:
            self._note("close" if tag in INLINE else "block")

    def handle_data(self, data: str) -> None:
        """Text."""
        self._note("text")

    def handle_entityref(self, name: str) -> None:
        """An entity by name, which is text."""
        self._note("text")

    def handle_charref(self, name: str) -> None:
        """An entity by number, which is text."""
        self._note("text")

    def handle_comment(self, data: str) -> None:
        """A comment."""
        self._note("atom")

    def handle_decl(self, decl: str) -> None:
        """A document type."""
        self._note("block")

    def handle_pi(self, data: str) -> None:
        """An instruction, as in XML."""
        self._note("atom")

    def unknown_decl(self, data: str) -> None:
        """Another declaration, such as CDATA."""
        self._note("atom")


def _is_untouched(attributes: list[tuple[str, str | None]]) -> bool:
    """Whether an element asks not to be translated."""
    values = {name: value or "" for name, value in attributes}
    return values.get("translate", "").lower() == "no" or "notranslate" in values.get("class", "").split()


def read_pieces(markup: str) -> list[Piece]:
    """Take markup apart; the pieces' texts put together are the markup."""
    begins = _Reader(markup).begins
    places = [0, *(place for place, _ in begins), len(markup)]
    kinds: list[Kind] = ["block", *(kind for _, kind in begins)]
    pieces: list[Piece] = []
    for (start, stop), kind in zip(pairwise(places), kinds, strict=True):
        raw = markup[start:stop]
        if kind == "text" and pieces and pieces[-1].kind == "text":
            pieces[-1] = Piece("text", pieces[-1].raw + raw)
        elif raw:
            pieces.append(Piece(kind, raw))
    return pieces


class Edges:
    """The edges of the words in a sentence: beginnings for opening tags, ends for closing ones."""

    def __init__(self, text: str) -> None:
        words = list(_WORD.finditer(text))
        self._length = len(text)
        self._begins = [word.start() for word in words]
        self._ends = [word.end() for word in words]
        spoken = [word for word in words if _is_spoken(word[0])]
        self.first = spoken[0].start() if spoken else 0
        self.last = spoken[-1].end() if spoken else self._length

    def nearest(self, share: float, kind: Kind, beyond: int) -> int:
        """Return the edge nearest to a share of the way that is not before a place; the end where there is none."""
        edges = self._ends if kind == "close" else self._begins
        aim = share * self._length
        after = bisect_left(edges, max(aim, beyond))
        near = [edge for edge in edges[max(0, after - 1) : after + 1] if edge >= beyond]
        return min(near, key=lambda edge: abs(edge - aim), default=self._length)


def _is_spoken(text: str) -> bool:
    """Whether there is a letter or a digit in a text, and not punctuation alone."""
    return any(map(str.isalnum, text))


@dataclass(frozen=True)
class Span:
    """A sentence, or a gap between two: where it stands in the source, and where and how it is written."""

    start: int
    source: str
    written: int
    text: str
    is_sentence: bool

    @cached_property
    def edges(self) -> Edges:
        """The edges of the words that are written."""
        return Edges(self.text)

    def place(self, offset: int, kind: Kind, beyond: int) -> int:
        """Return where a tag at an offset of the source is written, not before a place."""
        inside, length = offset - self.start, len(self.source)
        if inside == 0:
            return self.written
        if inside == length:
            return self.written + len(self.text)
        if not self.is_sentence:
            return self.written + min(inside, len(self.text))  # a gap is written as it was, or as one space or none
        # Tags around every word of a sentence stay around every word, whatever punctuation is outside.
        if kind == "open" and not _is_spoken(self.source[:inside]):
            return self.written + self.edges.first
        if kind == "close" and not _is_spoken(self.source[inside:]):
            return self.written + self.edges.last
        return self.written + self.edges.nearest(inside / length, kind, beyond - self.written)


@dataclass(frozen=True)
class Mark:
    """What is written at one place of a block, and whether a space is to be beside it."""

    offset: int
    kind: Kind
    raw: str
    space_before: bool = False
    space_behind: bool = False


@dataclass
class Block:
    """Text with inline tags in it, which is translated as a whole."""

    text: str = ""
    tags: list[tuple[int, Piece]] = field(default_factory=list)  # before which character of the text each stands
    outline: SplitText = field(default_factory=lambda: SplitText([], [""]))

    def add(self, piece: Piece) -> None:
        """Add the next piece."""
        if piece.kind == "text":
            self.text += html.unescape(piece.raw)
        else:
            self.tags.append((len(self.text), piece))

    @property
    def plain(self) -> str:
        """The text as a browser shows it: a line break in HTML is a space, and ends no sentence."""
        return re.sub(r"[\n\r\t\f]", " ", self.text)

    def render(self, translations: Sequence[str], language: str | None) -> str:
        """Return the block with its tags and the translations in it."""
        spans = list(self._spans(translations, self.outline.translated_gaps(translations, language)))
        text = "".join(span.text for span in spans)
        marks = list(self._marks())
        written, done = "", 0
        for place, mark in zip(self._places(spans, marks, text), marks, strict=True):
            written += _escape(text[done:place])
            if mark.space_before and written and not written[-1].isspace():
                written += " "
            written += mark.raw
            if mark.space_behind and text[place : place + 1].isalnum():
                written += " "
            done = place
        return written + _escape(text[done:])

    def _spans(self, translations: Sequence[str], gaps: Sequence[str]) -> Iterator[Span]:
        """Yield gaps and sentences in turn; a gap that stays as it was has its line breaks."""
        start = written = 0
        for number, (gap, new) in enumerate(zip(self.outline.gaps, gaps, strict=True)):
            shown = self.text[start : start + len(gap)] if new == gap else new
            yield Span(start, gap, written, shown, is_sentence=False)
            start, written = start + len(gap), written + len(shown)
            if number < len(translations):
                source, target = self.outline.sentences[number], translations[number]
                yield Span(start, source, written, target, is_sentence=True)
                start, written = start + len(source), written + len(target)

    def _marks(self) -> Iterator[Mark]:
        """Yield tags one by one, but what stands around something untouched together with it, as one thing."""
        for offset, group in groupby(self.tags, key=itemgetter(0)):
            pieces = [piece for _, piece in group]
            closing = list(takewhile(lambda piece: piece.kind == "close", pieces))
            others = pieces[len(closing) :]
            if any(piece.kind == "atom" for piece in others):
                before, behind = self.text[max(0, offset - 1) : offset], self.text[offset : offset + 1]
                joined = "".join(piece.raw for piece in others)
                kind: Kind = "close" if before.strip() else "atom"  # at the end of the word it sticks to, if to any
                solid = Mark(offset, kind, joined, before.isspace(), behind.isspace())
                yield from (*(Mark(offset, piece.kind, piece.raw) for piece in closing), solid)
            else:
                yield from (Mark(offset, piece.kind, piece.raw) for piece in pieces)

    def _places(self, spans: list[Span], marks: list[Mark], text: str) -> Iterator[int]:
        """Yield where each mark is written: never before the one before it, and with a word in what held one."""
        starts = [span.start for span in spans]
        source = place = 0
        for mark in marks:
            # At a border, an opening tag belongs to what begins there, and a closing one to what ends there.
            number = (bisect_left if mark.kind == "close" else bisect_right)(starts, mark.offset)
            holds_text = mark.kind == "close" and mark.offset > source
            found = spans[max(0, number - 1)].place(mark.offset, mark.kind, place + holds_text)
            if mark.space_behind and text[found - 2 : found].isspace() and len(text[found - 2 : found]) == 2:
                found -= 1  # of two spaces there is one on either side
            place = max(place, found)
            source = mark.offset
            yield place


def _escape(text: str) -> str:
    """Write text as HTML."""
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")


class Markup:
    """A piece of HTML whose sentences can be replaced, once they are found."""

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
        """The parts that hold text."""
        return [part for part in self._parts if isinstance(part, Block)]

    @property
    def plain(self) -> str:
        """What there is to read."""
        return "\n".join(block.plain for block in self._blocks)

    def taken_apart(self, outline: Callable[[str], SplitText]) -> Markup:
        """Find the sentences of each block."""
        for block in self._blocks:
            block.outline = outline(block.plain)
        return self

    @property
    def sentences(self) -> list[str]:
        """All sentences in their order."""
        return [sentence for block in self._blocks for sentence in block.outline.sentences]

    def fill(self, translations: Sequence[str], language: str | None = None) -> str:
        """Return the markup with a translation in the place of each sentence."""
        remaining = iter(translations)
        written = []
        for part in self._parts:
            if isinstance(part, Piece):
                written.append(part.raw)
            else:
                written.append(part.render([next(remaining) for _ in part.outline.sentences], language))
        return "".join(written)
