"""XML as a tree whose every part knows its place in the text, so that a part can be replaced and the rest kept.

Expat reads it. Entities that a document declares itself are refused, since a few of them can stand for more text than
any memory holds, or for files of this machine; a document type without them, as in many files of TMX, is read past.
Names are as they are written, with their prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from manyheads.errors import ManyheadsError

LARGEST = 1 << 26  # characters
DEEPEST = 100  # levels
MOST_PARTS = 1_000_000  # elements, texts and comments; each takes some 300 bytes of memory

WRITE = "Write the text that it stands for in its place."


@dataclass(slots=True)
class XmlText:
    """What is between two tags: a text, a CDATA section, a comment or a processing instruction."""

    kind: Literal["text", "cdata", "comment", "instruction"]
    text: str  # entities decoded, without the delimiters of the kind
    start: int
    end: int


@dataclass(slots=True)
class Element:
    """An element: `whole[start:end]`, with `whole[content_start:content_end]` between its tags.

    An empty element `<a/>` has its `content_start`, `content_end` and `end` at the same place.
    """

    name: str
    attributes: dict[str, str]
    line: int
    start: int
    content_start: int = 0
    content_end: int = 0
    end: int = 0
    children: list[Element | XmlText] = field(default_factory=list)

    @property
    def local_name(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition(":")[2]

    @property
    def is_empty_tag(self) -> bool:
        """Whether it is written as one tag, `<a/>`."""
        return self.content_start == self.end

    @property
    def elements(self) -> Iterator[Element]:
        """The elements directly in this one."""
        return (child for child in self.children if isinstance(child, Element))

    def text(self) -> str:
        """Return the text in this element and in all elements inside."""
        parts = [
            child.text() if isinstance(child, Element) else child.text
            for child in self.children
            if isinstance(child, Element) or child.kind in ("text", "cdata")
        ]
        return "".join(parts)


def read_xml(whole: str) -> Element:
    """Return the outermost element of an XML document."""
    if len(whole) > LARGEST:
        raise ManyheadsError(
            f"this XML document has {len(whole):,} characters, and at most {LARGEST:,} are read.",
            cure="Divide it into several files.",
        )
    return _Reading(whole).root


class _Reading:
    """One reading of a document: expat's events, as they become elements with their places.

    The places that expat tells are bytes. Each event begins where the previous one ends, so bytes are counted as
    characters on the way, and a part ends where the next event begins.
    """

    def __init__(self, whole: str) -> None:
        self._bytes = _encoded(whole.removeprefix("\ufeff"))
        self._byte, self._character = 0, len(whole) - len(whole.removeprefix("\ufeff"))
        self._outside = Element("", {}, line=1, start=0)
        self._open = [self._outside]
        self._pending: Element | XmlText | None = None  # what ends at the next event
        self._chunks: list[str] = []  # of the text that is being read
        self._in_cdata = False
        self._parts = 0
        self._parser = self._new_parser()
        try:
            self._parser.Parse(self._bytes, True)
        except expat.ExpatError as error:
            raise _refusal(f"this XML cannot be read ({expat.ErrorString(error.code)})", error.lineno) from None
        self.root = next(self._outside.elements)

    def _new_parser(self) -> expat.XMLParserType:
        """Return a parser that calls the methods below; it ignores the declared encoding, as the text is decoded."""
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = self._instruction
        parser.EntityDeclHandler = self._declared_entity
        parser.SkippedEntityHandler = self._skipped_entity
        return parser

    def _here(self) -> int:
        """Return the character at which the current event begins, and end what was pending there."""
        now = self._parser.CurrentByteIndex
        self._character += len(self._bytes[self._byte : now].decode("utf-8"))
        self._byte = now
        match self._pending:
            case Element() as element:
                element.content_start = self._character
            case XmlText(kind="text") as text:
                text.end, text.text = self._character, "".join(self._chunks)
            case XmlText() as other:
                other.end = self._character
        self._pending = None
        return self._character

    def _add(self, part: Element | XmlText) -> None:
        """Add a part to the innermost open element."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _refusal(f"this XML has more than {MOST_PARTS:,} elements and texts", self._line)
        self._open[-1].children.append(part)
        self._pending = part

    @property
    def _line(self) -> int:
        """The line of the current event."""
        return self._parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        element = Element(name, attributes, line=self._line, start=self._here())
        self._add(element)
        self._open.append(element)
        if len(self._open) > DEEPEST:
            raise _refusal(f"this XML is nested more than {DEEPEST} levels deep", self._line)

    def _end(self, _name: str) -> None:
        """Close an element; its end tag has no spaces but before its `>`."""
        here = self._here()
        element = self._open.pop()
        is_empty_tag = self._bytes[self._byte - 2 : self._byte] == b"/>" and element.content_start == here
        tag = b"" if is_empty_tag else self._bytes[self._byte : self._bytes.index(b">", self._byte) + 1]
        element.content_end, element.end = here, here + len(tag.decode("utf-8"))

    def _text(self, chunk: str) -> None:
        """Add a part of a text: expat gives each line and each entity by itself."""
        if self._in_cdata or (isinstance(self._pending, XmlText) and self._pending.kind == "text"):
            self._chunks.append(chunk)
            return
        here = self._here()
        self._chunks = [chunk]
        self._add(XmlText("text", "", here, here))

    def _start_cdata(self) -> None:
        """Open a CDATA section."""
        here = self._here()
        self._in_cdata, self._chunks = True, []
        self._add(XmlText("cdata", "", here, here))

    def _end_cdata(self) -> None:
        """Close a CDATA section, whose text is complete."""
        assert isinstance(self._pending, XmlText)
        self._in_cdata, self._pending.text = False, "".join(self._chunks)

    def _comment(self, comment: str) -> None:
        """Add a comment."""
        here = self._here()
        self._add(XmlText("comment", comment, here, here))

    def _instruction(self, target: str, content: str) -> None:
        """Add a processing instruction."""
        here = self._here()
        self._add(XmlText("instruction", f"{target} {content}", here, here))

    def _declared_entity(self, name: str, *_rest: object) -> None:
        """Refuse an entity that the document declares."""
        raise _refusal(
            f"this XML declares the entity '{name[:40]}', and declared entities are not read", self._line, WRITE
        )

    def _skipped_entity(self, name: str, *_rest: object) -> None:
        """Refuse an entity that another file may declare."""
        raise _refusal(f"this XML uses the entity '{name[:40]}', which it does not declare", self._line, WRITE)


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise _refusal("this XML has a character that Unicode does not have", line) from None


def _refusal(problem: str, line: int, cure: str = "Correct it with an editor for XML.") -> ManyheadsError:
    """Return the error for a document that is refused."""
    return ManyheadsError(f"{problem}.", where=f"line {line}", cure=cure)
