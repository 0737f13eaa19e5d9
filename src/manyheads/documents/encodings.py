"""The bytes of a document as text, and its text as bytes again, in the same encoding and with the same mark.

A byte order mark decides, then what the document declares (XML, HTML and PO do), then UTF-8. Line ends stay as they
are.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from manyheads.errors import ManyheadsError

HEAD = 4096  # bytes in which a document declares its encoding
IN_XML = re.compile(rb"\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
IN_HTML = re.compile(rb"<meta\s[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
IN_PO = re.compile(rb"^\"Content-Type:[^\n]{0,100}?charset=([\w.:-]{1,40})", re.IGNORECASE | re.MULTILINE)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TEMPLATE = "CHARSET"  # what the template of a PO file declares
# Python has codecs that are no encodings of text, and some that take quadratic time. These are what documents are in.
_KNOWN = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp125\d|cp866|cp932|cp949|koi8-[rtu]|mac-roman|gb2312|gbk|gb18030|big5|big5hkscs"
    r"|shift_jis|euc_jp|euc_kr|iso2022_jp"
)
_SINGLE_BYTES = re.compile(r"iso8859-\d+|cp125\d|koi8-[rtu]")
_TO_UTF_8 = "Convert the file to UTF-8 and let it declare that."


@dataclass(frozen=True)
class Encoding:
    """The encoding of a document.

    Args:
        name: Its name in Python.
        mark: The byte order mark that the document begins with.
        has_references: Whether other characters can be written as `&#8230;`, as in XML and HTML.
    """

    name: str = "utf-8"
    mark: bytes = b""
    has_references: bool = False

    def decode(self, content: bytes) -> str:
        """Return the text of a document, without its mark."""
        begin = len(self.mark)
        try:
            text = content[begin:].decode(self.name)
        except UnicodeDecodeError as error:
            raise ManyheadsError(
                f"this file is not in {self.name}: there is a byte {content[begin + error.start]:#04x}.",
                where=_line(content[: begin + error.start].count(b"\n")),
                cure=_TO_UTF_8,
            ) from None
        before, nul, _ = text.partition("\0")
        if nul:
            raise ManyheadsError("this file is not text: it has a NUL character.", where=_line(before.count("\n")))
        return text

    def encode(self, text: str) -> bytes:
        """Return the text as the bytes of a document."""
        try:
            return self.mark + text.encode(self.name, "xmlcharrefreplace" if self.has_references else "strict")
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ManyheadsError(
                f"the translation has '{character}', which {self.name}, the file's encoding, has not.",
                where=_line(text[: error.start].count("\n")),
                cure=_TO_UTF_8,
            ) from None


def encoding_of(content: bytes, declaration: re.Pattern[bytes] | None = None) -> Encoding:
    """Return the encoding of a document; `declaration` finds what its format declares."""
    has_references = declaration in (IN_XML, IN_HTML)
    for mark, name in _MARKS:
        if content.startswith(mark):
            return Encoding(name, mark, has_references)
    declared = declaration.search(content[:HEAD]) if declaration else None
    name = declared[1].decode("ascii") if declared else _TEMPLATE
    return Encoding("utf-8" if name == _TEMPLATE else _known(name, content), has_references=has_references)


def _known(declared: str, content: bytes) -> str:
    """Return the name in Python of a declared encoding; raise an error for one that the document cannot be in."""
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        name = ""
    if not _KNOWN.fullmatch(name):
        raise ManyheadsError(
            f"this file declares the encoding '{declared}', which it is not in or which is not known.",
            where="line 1",
            cure=_TO_UTF_8,
        )
    if _SINGLE_BYTES.fullmatch(name) and not content.isascii() and _is_utf_8(content):
        raise ManyheadsError(
            f"this file declares the encoding '{declared}', and is in UTF-8.",
            where="line 1",
            cure="Let it declare UTF-8.",
        )
    return name


def _is_utf_8(content: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _line(newlines_before: int) -> str:
    """Return the place of an error."""
    return f"line {newlines_before + 1}"
