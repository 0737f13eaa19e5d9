"""HTML as blocks of text with inline tags, and back.

Text is translated by block (a paragraph, a cell, a heading), so a sentence with bold words in it is one sentence. These
are kept unchanged: comments, attributes, and the content of script, style, pre, code, textarea, svg, math,
`translate="no"` and `class="notranslate"`. Entities are decoded before translation and encoded after it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

from manyheads.documents.html_parts import Part, html_parts, unescaped
from manyheads.documents.interface import Segment, Styled, Tag
from manyheads.documents.limits import require_length
from manyheads.documents.lines import Lines
from manyheads.documents.slots import Slot, SlotDocument


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

LARGEST = 1 << 23  # characters of a document

_SPACE = " \n\r\t\f"  # what HTML calls white space
_SPACES = re.compile(f"[{_SPACE}]+")
_BREAKS = str.maketrans("\n\r\t\f", "    ")
Kind = Literal["text", "open", "close", "atom", "block"]  # an atom is inline, and not part of the text


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


class Block(NamedTuple):
    """Text with inline tags, which is translated together: its span of the markup, and what a reader sees."""

    start: int
    end: int
    content: Styled


def html_blocks(markup: str) -> Iterator[Block]:
    """Yield the blocks of some HTML."""
    position = start = length = 0
    texts: list[str] = []
    tags: list[Tag] = []
    for piece in chain(read_pieces(markup), [Piece("block", "")]):
        if piece.kind == "block":
            if texts or tags:
                yield Block(start, position, Styled("".join(texts), tuple(tags)))
            start, texts, tags, length = position + len(piece.raw), [], [], 0
        elif piece.kind == "text":
            texts.append(unescaped(piece.raw))
            length += len(texts[-1])
        else:
            tags.append(Tag(length, piece.kind, piece.raw))
        position += len(piece.raw)


def plain(block: Styled) -> str:
    """Return the text as a browser shows it: a line break in HTML is a space, and does not end a sentence."""
    return block.text.translate(_BREAKS)


def as_html(block: Styled) -> str:
    """Return text with tags as HTML."""
    parts: list[str] = []
    done = 0
    for tag in block.tags:
        parts += _escape(block.text[done : tag.offset]), tag.raw
        done = tag.offset
    return "".join([*parts, _escape(block.text[done:])])


def _escape(text: str) -> str:
    """Return text as HTML."""
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")


def read_html(text: str, *, language: str | None) -> SlotDocument:
    """Return HTML as a document; its segments are the blocks with letters, without the white space around them."""
    require_length(text, "page", most=LARGEST)
    lines = Lines(text)
    blocks = [_trimmed(block, text) for block in html_blocks(text) if any(map(str.isalpha, block.content.text))]
    slots = tuple(
        Slot(Segment(content, line=lines.number(start)), start, end, content, as_html) for start, end, content in blocks
    )
    return SlotDocument(text, slots, (_language(text), language))


def _language(markup: str) -> str | None:
    """Return the language of a document, by the attribute `lang` of `<html>`."""
    root = next((part for part in html_parts(markup) if part.kind == "start" and part.name == "html"), None)
    return root.attributes.get("lang") if root else None


def _trimmed(block: Block, markup: str) -> Block:
    """Return a block without the white space around it, and with one space in place of several, as browsers show it."""
    raw = markup[block.start : block.end]
    before, after = len(raw) - len(raw.lstrip(_SPACE)), len(raw) - len(raw.rstrip(_SPACE))
    texts: list[str] = []
    tags: list[Tag] = []
    begin, end, length = before, len(block.content.text) - after, 0
    for tag in [*block.content.tags, Tag(end, "atom", "")]:
        texts.append(_SPACES.sub(" ", block.content.text[begin : tag.offset]))
        length += len(texts[-1])
        tags.append(tag._replace(offset=length))
        begin = tag.offset
    return Block(block.start + before, block.end - after, Styled("".join(texts), tuple(tags[:-1])))
