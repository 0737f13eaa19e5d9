"""TMX 1.1 to 1.4b, the exchange format of translation memories, read unit by unit.

A `<tu>` has a `<tuv>` for each language with its text in a `<seg>`. Codes of the document that was translated stand in
elements inside the text: `<bpt>`, `<ept>`, `<it>` and `<ut>` are left out, and so is a `<ph>`, which stands for
something between words, unless it holds a placeholder such as `%s`. The text that they mark stays, as that of `<hi>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from manyheads.data.formats.memory_units import UNKNOWN_LANGUAGE, MemoryUnit, standing_alone
from manyheads.data.formats.xml_events import read_events
from manyheads.data.text.files import LONGEST_LINE

CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
MOST_TEXTS = 250  # of a unit: more than there are languages in any memory
ANY_LANGUAGE = "*all*"  # as the source of a memory: a unit may be translated from any of its languages


def read_tmx(blocks: Iterable[bytes], where: str) -> Iterator[MemoryUnit]:
    """Yield the units of a TMX file."""
    return read_events(blocks, _TmxHandler(), where)


class _TmxHandler:
    """Finds the units; what is not in a segment is heard of, and forgotten."""

    def __init__(self) -> None:
        self._found: list[MemoryUnit] = []
        self._source = ""  # of the memory
        self._unit_source = ""
        self._line = 1
        self._language: str | None = None  # of the text that is being read
        self._texts: list[tuple[str, str]] = []
        self._parts: list[str] | None = None  # of the segment, while it is read
        self._length = 0  # of all texts of the unit
        self._codes: list[str] = []  # the elements around the text, from the outermost code on
        self._code_parts: list[str] = []

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Hear that an element begins."""
        if self._codes or (name in CODES and self._parts is not None):
            self._codes.append(name)
        elif name == "header":
            self._source = _source_of(attributes)
        elif name == "tu":
            self._line, self._unit_source = line, _source_of(attributes) or self._source
            self._texts, self._length = [], 0
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg" and self._language is not None:
            self._parts = []

    def end(self, name: str) -> None:
        """Hear that an element ends."""
        if self._codes:
            self._codes.pop()
            if not self._codes:
                self._end_code(name)
        elif name == "seg" and self._parts is not None:
            if len(self._texts) < MOST_TEXTS:
                self._texts.append((self._language or UNKNOWN_LANGUAGE, "".join(self._parts)))
            self._parts = None
        elif name == "tuv":
            self._language = None
        elif name == "tu":
            self._found.append(MemoryUnit(self._line, self._texts, self._unit_source))

    def text(self, text: str) -> None:
        """Hear text; of a unit that is too long to be learned from, no more is kept than shows that."""
        if self._parts is None or self._length > LONGEST_LINE:
            return
        self._length += len(text)
        (self._code_parts if self._codes else self._parts).append(text)

    def taken(self) -> list[MemoryUnit]:
        """Return the units that were found since the last call."""
        found, self._found = self._found, []
        return found

    def _end_code(self, name: str) -> None:
        """Leave out a code that has ended; one that stands alone is a placeholder, or a space."""
        assert self._parts is not None
        code, self._code_parts = "".join(self._code_parts).strip(), []
        if name == "ph":
            self._parts.append(standing_alone(code))


def _source_of(attributes: dict[str, str]) -> str:
    """Return the language that a memory or a unit was translated from; empty if it may be any."""
    source = attributes.get("srclang", "")
    return "" if source.lower() == ANY_LANGUAGE else source
