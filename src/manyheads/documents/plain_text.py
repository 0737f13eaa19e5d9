"""Plain text: every line is a segment, without the spaces around it.

Blank lines, indentation and line ends stay as they are. A line break inside a translation becomes a space, so that the
document keeps its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manyheads.documents.interface import Segment, Styled
from manyheads.documents.lines import Lines
from manyheads.documents.slots import Slot, SlotDocument, limited
from manyheads.errors import ManyheadsError

LONGEST_LINE = 1 << 20  # characters

_LINE = re.compile(r"[^\r\n]+")
_BREAK = re.compile(r"\r\n|\r|\n")


def read_plain_text(text: str, *, language: str | None) -> SlotDocument:
    """Return a plain text as a document."""
    return SlotDocument(text, limited(_slots(text)), (None, language))


def _slots(text: str) -> Iterator[Slot]:
    """Yield a slot for each line that has a text."""
    lines = Lines(text)
    for line in _LINE.finditer(text):
        number = lines.number(line.start())
        if len(line[0]) > LONGEST_LINE:
            raise ManyheadsError(
                f"this line has {len(line[0]):,} characters, and at most {LONGEST_LINE:,} are read.",
                where=f"line {number}",
                cure="Divide it into paragraphs.",
            )
        content = line[0].strip("\ufeff").strip()
        if content:
            start = text.index(content, line.start())
            source = Styled(content)
            yield Slot(Segment(source, line=number), start, start + len(content), source, _written)


def _written(translation: Styled) -> str:
    """Return a translation as one line."""
    return _BREAK.sub(" ", translation.text)
