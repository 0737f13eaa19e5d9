"""XML read block by block: what begins, what ends and the text between, from files of any size.

Nothing that a file declares is expanded or fetched: entities are refused, and the DTD that a file names is not read.
Tags and comments are bounded, since the parser holds each of them whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol
from xml.parsers import expat

from manyheads.bounded.machine import as_bytes
from manyheads.data.formats.memory_units import MemoryUnit
from manyheads.errors import ManyheadsError

DEEPEST = 100  # levels of elements
LONGEST_TAG = 1 << 22  # bytes of a tag or a comment
_TEXT_BLOCK = 1 << 16  # characters that the parser collects before it gives them


class XmlHandler(Protocol):
    """Hears of the elements and the text of a file, and finds units in them."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Hear that an element begins on a line, from 1; prefixes of namespaces are left out of its name."""
        ...

    def end(self, name: str) -> None:
        """Hear that an element ends."""
        ...

    def text(self, text: str) -> None:
        """Hear some of the text inside the element that began last and has not ended."""
        ...

    def taken(self) -> list[MemoryUnit]:
        """Return the units that were found since the last call."""
        ...


def read_events(blocks: Iterable[bytes], handler: XmlHandler, where: str) -> Iterator[MemoryUnit]:
    """Yield the units that a handler finds in an XML file, whose bytes are given in blocks; `where` names the file."""
    parser = _parser(handler, where)
    fed = 0
    try:
        for block in blocks:
            fed += len(block)
            parser.Parse(block, False)
            if fed - max(0, parser.CurrentByteIndex) > LONGEST_TAG + len(block):
                raise _error(f"a tag or a comment is longer than {as_bytes(LONGEST_TAG)}", parser, where)
            yield from handler.taken()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise ManyheadsError(
            f"this XML cannot be read: {problem}.",
            where=f"{where}:{error.lineno}",
            cure="Export the file again, or mend this line.",
        ) from None
    except (LookupError, ValueError) as error:  # the encoding that the file declares
        raise ManyheadsError(f"this XML cannot be read: {error}.", where=where, cure="Save it as UTF-8.") from None
    yield from handler.taken()


def _parser(handler: XmlHandler, where: str) -> expat.XMLParserType:
    """Return a parser that tells a handler what it reads, and refuses what is not safe."""
    parser = expat.ParserCreate()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        """Pass on that an element begins."""
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _error(f"elements are nested more than {DEEPEST} levels deep", parser, where)
        handler.start(name.rpartition(":")[2], attributes, parser.CurrentLineNumber)

    def end(name: str) -> None:
        """Pass on that an element ends."""
        nonlocal depth
        depth -= 1
        handler.end(name.rpartition(":")[2])

    def refuse_entity(name: str, *_: object) -> None:
        """Refuse an entity other than the five of XML."""
        raise _error(f"entities such as '{name[:40]}' are not read", parser, where)

    parser.buffer_text, parser.buffer_size = True, _TEXT_BLOCK
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    return parser


def _error(problem: str, parser: expat.XMLParserType, where: str) -> ManyheadsError:
    """Return the error for something that is refused at the place that was read last."""
    return ManyheadsError(f"{problem}.", where=f"{where}:{parser.CurrentLineNumber}")
