"""Markdown: headings, paragraphs, items of lists, quotations and cells of tables are translated.

Front matter, code, HTML blocks, the targets of links, reference definitions and the rulers of tables stay as they are.
A paragraph is a segment, over all its lines, and its translation is one line; hard line breaks are kept. Emphasis and
links are tags around their text; code, images and addresses in angle brackets are tags that stand alone.
"""

from __future__ import annotations

from functools import partial

from manyheads.documents.interface import Segment
from manyheads.documents.limits import require_length
from manyheads.documents.lines import Lines
from manyheads.documents.markdown_blocks import MarkdownBlocks, TextBlock
from manyheads.documents.markdown_inline import inline_content
from manyheads.documents.markdown_writing import as_markdown
from manyheads.documents.slots import Slot, SlotDocument
from manyheads.errors import ManyheadsError

LARGEST = 1 << 22  # characters
LONGEST = 1 << 17  # characters of a block


def read_markdown(text: str, *, language: str | None) -> SlotDocument:
    """Return Markdown as a document."""
    require_length(text, "document", most=LARGEST)
    reading, lines = MarkdownBlocks(text), Lines(text)
    slots = []
    for block in reading.blocks:
        start, end = block.lines[0][0], block.lines[-1][1]
        if end - start > LONGEST:
            raise ManyheadsError(
                f"this paragraph has {end - start:,} characters, and at most {LONGEST:,} are read.",
                where=f"line {lines.number(start)}",
                cure="Divide it by blank lines.",
            )
        raw = "\n".join(text[first:last] for first, last in block.lines).rstrip(" \t")
        content = inline_content(raw, reading.labels)
        if any(map(str.isalpha, content.text)):
            end -= len(text[start:end]) - len(text[start:end].rstrip(" \t"))
            write = partial(as_markdown, kind=block.kind, line_break=_line_break(text, block), labels=reading.labels)
            slots.append(Slot(Segment(content, line=lines.number(start)), start, end, content, write))
    return SlotDocument(text, tuple(slots), (None, language))


def _line_break(text: str, block: TextBlock) -> str:
    """Return the first hard line break of a block, with the markers of the next line; a space if it has none."""
    for (start, end), following in zip(block.lines, block.lines[1:], strict=False):
        line = text[start:end]
        width = 1 if line.endswith("\\") else len(line) - len(line.rstrip(" "))
        if line.endswith(("\\", "  ")):
            return text[end - width : following[0]]
    return " "
