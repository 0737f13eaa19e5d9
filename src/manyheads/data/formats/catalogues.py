"""Catalogues of translations, PO and XLIFF, read as the documents that they are: a file of them fits into memory.

A catalogue names the language of its translations. PO does not name that of its messages; XLIFF does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import unescape

from manyheads.bounded.machine import as_bytes
from manyheads.data.formats.memory_units import MESSAGES, UNKNOWN_LANGUAGE, MemoryUnit, standing_alone
from manyheads.documents.encodings import IN_PO, IN_XML, encoding_of
from manyheads.documents.interface import Document, Segment, Styled
from manyheads.documents.opening import Reader, located
from manyheads.documents.po import read_po
from manyheads.documents.xliff import read_xliff
from manyheads.errors import ManyheadsError

LARGEST = 1 << 26  # bytes of a catalogue
_CONTENT = re.compile(r">([^<]*)<")  # of the element that a tag of a document is


def read_po_units(blocks: Iterable[bytes], where: str) -> Iterator[MemoryUnit]:
    """Yield the units of a PO file: entries that are not obsolete, and each form of those with plurals."""
    return _units(_document(read_po, blocks, IN_PO, where))


def read_xliff_units(blocks: Iterable[bytes], where: str) -> Iterator[MemoryUnit]:
    """Yield the units of an XLIFF file, or the segments of these."""
    return _units(_document(read_xliff, blocks, IN_XML, where))


def _document(read: Reader, blocks: Iterable[bytes], declares: re.Pattern[bytes], where: str) -> Document:
    """Return a catalogue as a document; errors name its file."""
    content = _whole(blocks, where)
    try:
        return read(encoding_of(content, declares).decode(content), language=None)
    except ManyheadsError as error:
        raise located(error, where) from None


def _units(document: Document) -> Iterator[MemoryUnit]:
    """Yield the segments of a document as units."""
    source, target = document.languages
    for segment in document.segments:
        yield _unit(segment, source or MESSAGES, target or UNKNOWN_LANGUAGE)


def _unit(segment: Segment, source: str, target: str) -> MemoryUnit:
    """Return a segment as a unit."""
    translation = "" if segment.target is None else _text(segment.target)
    texts = [(source, _text(segment.source)), (target, translation)]
    return MemoryUnit(segment.line, texts, source, segment.is_unsure)


def _text(styled: Styled) -> str:
    """Return a text with what its tags that stand alone hold or part."""
    parts: list[str] = []
    done = 0
    for tag in styled.tags:
        if tag.kind == "atom":
            content = _CONTENT.search(tag.raw)
            parts += styled.text[done : tag.offset], standing_alone(unescape(content[1]) if content else "")
            done = tag.offset
    return "".join([*parts, styled.text[done:]])


def _whole(blocks: Iterable[bytes], where: str) -> bytes:
    """Return the content of a file, if it is not too large for a catalogue."""
    content = bytearray()
    for block in blocks:
        content += block
        if len(content) > LARGEST:
            raise ManyheadsError(
                f"this catalogue has more than {as_bytes(LARGEST)}.", where=where, cure="Divide it into several files."
            )
    return bytes(content)
