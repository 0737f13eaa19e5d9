"""Files as documents: the format is found by the ending of the name, then by the content; the bytes become text.

`FORMATS` has a line for each format. A file that is compressed with gzip (`.po.gz`) is read too.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from manyheads.bounded.files import read_bytes
from manyheads.bounded.machine import as_bytes
from manyheads.documents.android import read_android
from manyheads.documents.csv_column import read_csv_column
from manyheads.documents.encodings import IN_HTML, IN_PO, IN_XML, Encoding, encoding_of
from manyheads.documents.formats import CSV, ENDINGS, PACKED, TEXT, XML, format_by_ending, format_names
from manyheads.documents.html import read_html
from manyheads.documents.interface import Document
from manyheads.documents.json_catalogue import read_json_catalogue
from manyheads.documents.markdown import read_markdown
from manyheads.documents.plain_text import read_plain_text
from manyheads.documents.po import read_po
from manyheads.documents.subtitles import read_srt, read_webvtt
from manyheads.documents.tmx import read_tmx
from manyheads.documents.xliff import read_xliff
from manyheads.errors import ManyheadsError, did_you_mean

LARGEST = 1 << 25  # bytes of a document
LONGEST = 100_000  # characters of one text in it
HEAD = 2048  # bytes in which a format is recognised

_MARK = re.compile(rb"\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)")


class Reader(Protocol):
    """Reads the text of a document."""

    def __call__(self, text: str, *, language: str | None) -> Document:
        """Return the document; `language` is the one that it is translated into, if that is known."""
        ...


@dataclass(frozen=True)
class Format:
    """A format.

    Args:
        name: Its name.
        read: Its reader.
        begins: How a file of it begins, whatever its name.
        declares: Where a file of it declares its encoding.
        marks_unsure: Whether it can mark translations as to be checked.
    """

    name: str
    read: Reader
    begins: re.Pattern[bytes] | None = None
    declares: re.Pattern[bytes] | None = None
    marks_unsure: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files."""
        return ENDINGS[self.name]


def _read_csv(text: str, *, language: str | None) -> Document:
    """Ask for the column of a CSV."""
    raise ManyheadsError(
        "which column of this CSV is translated is not known.",
        cure="Name it with --format csv:COLUMN, or csv:COLUMN:OTHER for translations in another column.",
    )


def _root(name: bytes) -> re.Pattern[bytes]:
    """Return how XML with this outermost element begins; quantifiers are possessive, so that nothing is tried twice."""
    before = rb"(?:(?:<\?(?>.*?\?>)|<!--(?>.*?-->)|<![^>]*+>)\s*+)*+"
    return re.compile(rb"\A\s*+" + before + b"<" + name + rb"[\s>]", re.DOTALL)


FORMATS = (
    Format("po", read_po, re.compile(rb"(?m)^msgid \""), IN_PO, marks_unsure=True),
    Format("xliff", read_xliff, _root(rb"(?:[\w.-]+:)?xliff"), IN_XML, marks_unsure=True),
    Format("tmx", read_tmx, _root(rb"tmx"), IN_XML),
    Format("android", read_android, _root(rb"resources"), IN_XML),
    Format("json", read_json_catalogue),
    Format("html", read_html, re.compile(rb"(?i)<!doctype html|<html[\s>]"), IN_HTML),
    Format("markdown", read_markdown),
    Format("srt", read_srt, re.compile(rb"\A\s*\d+\s+\d+:\d\d:\d\d,\d{3} -->")),
    Format("webvtt", read_webvtt, re.compile(rb"\AWEBVTT\b")),
    Format(CSV, _read_csv),
    Format(TEXT, read_plain_text),
)


@dataclass(frozen=True)
class OpenedDocument:
    """A document, its format, and the encoding of its file."""

    document: Document
    format: Format
    encoding: Encoding
    content: bytes

    def encode(self, text: str, name: str = "") -> bytes:
        """Return the text of a document as the bytes of a file; they are compressed if its name ends with `.gz`."""
        content = self.encoding.encode(text)
        return gzip.compress(content, mtime=0) if name.endswith(PACKED) else content


def open_document(path: Path, *, format: str | None = None, language: str | None = None) -> OpenedDocument:
    """Open a file.

    Args:
        path: The file.
        format: The name of its format; by default, it is found out.
        language: The language that the document is translated into, if that is known.
    """
    try:
        content = read_bytes(path, most=LARGEST)
    except OSError as error:
        raise ManyheadsError(f"this file cannot be read: {error.strerror or error}.", where=str(path)) from None
    return read_document(content, str(path), format=format, language=language)


def read_document(
    content: bytes, name: str, *, format: str | None = None, language: str | None = None
) -> OpenedDocument:
    """Read the content of a file with this name; see `open_document`."""
    try:
        content = _unpacked(content) if name.endswith(PACKED) else content
        found = _named(format) if format else _found(name, content)
        encoding = encoding_of(content, found.declares)
        document = found.read(encoding.decode(content), language=language)
        _check_lengths(document)
    except ManyheadsError as error:
        raise located(error, name) from None
    return OpenedDocument(document, found, encoding, content)


def _named(name: str) -> Format:
    """Return the format of this name, which may be followed by the columns of a CSV: `csv:English:German`."""
    kind, *columns = name.split(":", 2)
    for one in FORMATS:
        if one.name == kind and kind == CSV and columns and all(columns):
            return replace(one, read=partial(read_csv_column, column=columns[0], into=(*columns[1:], None)[0]))
        if one.name == name:
            return one
    raise ManyheadsError(f"there is no format '{name}'.", cure=did_you_mean(kind, format_names()))


def _found(name: str, content: bytes) -> Format:
    """Return the format of a file, by its name or by how it begins."""
    by_ending = format_by_ending(name)
    if by_ending is not None and not name.lower().removesuffix(PACKED).endswith(XML):
        return _named(by_ending)
    head = _MARK.sub(b"", content[:HEAD]).replace(b"\0", b"")  # of UTF-16, the letters that English has
    for one in FORMATS:
        if one.begins and one.begins.search(head):
            return one
    raise ManyheadsError(
        "the format of this file is not known by its ending, nor by how it begins.",
        cure=f"Name it with --format: {', '.join(format_names())}.",
    )


def _unpacked(content: bytes) -> bytes:
    """Return what a gzip file contains, up to the limit."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ManyheadsError(f"this {PACKED} file is damaged: {error}.") from None
    if len(unpacked) > LARGEST:
        raise ManyheadsError(f"this file has more than {as_bytes(LARGEST)} when it is unpacked.")
    return unpacked


def _check_lengths(document: Document) -> None:
    """Raise an error for a text that is too long to be one."""
    for segment in document.segments:
        if (length := len(segment.source.text)) > LONGEST:
            raise ManyheadsError(
                f"this text has {length:,} characters, and at most {LONGEST:,} are translated as one.",
                where=f"line {segment.line}",
                cure="Divide it into lines.",
            )


def located(error: ManyheadsError, name: str) -> ManyheadsError:
    """Return an error with the name of the file before the line."""
    if error.where is None or error.where == name:
        return ManyheadsError(error.what, where=name, cure=error.cure)
    line = error.where.removeprefix("line ")
    where = f"{name}:{line}" if line.isdecimal() else f"{name}: {error.where}"
    return ManyheadsError(error.what, where=where, cure=error.cure)
