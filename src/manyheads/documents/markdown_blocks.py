"""The blocks of a Markdown document that hold text: paragraphs, headings and the cells of tables, with their places.

This follows the block structure of CommonMark, with the tables of GitHub, footnotes and front matter. Code, HTML
blocks, front matter, reference definitions and the rulers of tables hold no text. The markers of quotations and lists
are not part of a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from manyheads.documents.split_text import Span

_DEEPEST = 100  # quotations and items inside each other; deeper ones are text

BlockKind = Literal["paragraph", "heading", "cell"]

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FRONT_MATTER = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)(?:.*?(?:\r\n|\r|\n))??\1[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)[ \t]*")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"([-*_])[ \t]*+(?:\1[ \t]*+){2,}+$")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])(?=[ \t]|$)")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_RULER = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_PIPE = re.compile(r"(?:\\.|[^|\\])*+(\||\\?$)")
_LABEL = r"\[((?:[^\[\]\\]|\\.){1,999})\]"
_DEFINITION = re.compile(rf"{_LABEL}:[ \t]*(?:<[^<>]*>|[^\s<]\S*)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:[ \t]*")

_HTML_BLOCKS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_ATTRIBUTE = r"""[ \t]+[A-Za-z_:][\w.:-]*+(?:[ \t]*=[ \t]*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
# What begins an HTML block, and what ends it: something in a line, or a blank line.
_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = tuple(
    (re.compile(begin, re.IGNORECASE), re.compile(end, re.IGNORECASE) if end else None)
    for begin, end in (
        (r"<(?:script|pre|style|textarea)(?=[\s>]|$)", r"</(?:script|pre|style|textarea)>"),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<![a-z]", r">"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (rf"</?(?:{_HTML_BLOCKS})(?=[\s>]|/>|$)", None),
    )
)
_HTML_TAG = re.compile(rf"(?:<[A-Za-z][\w-]*+(?:{_ATTRIBUTE})*+[ \t]*/?>|</[A-Za-z][\w-]*+[ \t]*>)[ \t]*$")


class TextBlock(NamedTuple):
    """A block of text: its kind, and the part of each line that is its own."""

    kind: BlockKind
    lines: tuple[Span, ...]


class _Quote(NamedTuple):
    """A quotation: each line begins with `>`."""


@dataclass
class _Item:
    """An item of a list: each line has an indentation of this many columns."""

    width: int
    is_empty: bool


@dataclass
class _Fence:
    """Code between fences."""

    mark: str


@dataclass
class _Html:
    """HTML up to a line with its end, or up to a blank line."""

    end: re.Pattern[str] | None


@dataclass
class _Table:
    """A table of this many columns."""

    columns: int


@dataclass
class _Paragraph:
    """A paragraph."""

    lines: list[Span] = field(default_factory=list)


class _Cursor:
    """A position in a line, with its column: a tab goes on to the next multiple of four."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.position, self.end = text, start, end
        self._column = self._spare = 0  # columns of a tab of which a part is consumed

    def indent(self) -> int:
        """Return the columns of white space that follow."""
        columns, column = self._spare, self._column + self._spare
        for position in range(self.position, self.end):
            if self.text[position] not in " \t":
                break
            width = 4 - column % 4 if self.text[position] == "\t" else 1
            columns, column = columns + width, column + width
        return columns

    def skip(self, columns: int) -> None:
        """Go on by some columns of white space."""
        taken = min(self._spare, columns)
        self._spare, self._column = self._spare - taken, self._column + taken
        columns -= taken
        while columns > 0 and self.position < self.end and self.text[self.position] in " \t":
            width = 4 - self._column % 4 if self.text[self.position] == "\t" else 1
            self.position += 1
            self._column += min(width, columns)
            self._spare = max(0, width - columns)
            columns -= width

    def read(self, characters: int) -> None:
        """Go on by some characters that are no white space."""
        self.position += characters
        self._column += characters

    @property
    def rest(self) -> str:
        """What follows, without white space before it."""
        return self.text[self.position : self.end].lstrip(" \t")

    @property
    def content(self) -> Span:
        """Where what follows is, without white space around it."""
        rest = self.rest
        start = self.end - len(rest)
        return start, start + len(rest.rstrip(" \t"))


class MarkdownBlocks:
    """One reading of a document: its blocks, and the labels of its reference definitions."""

    def __init__(self, text: str) -> None:
        self.blocks: list[TextBlock] = []
        self.labels: set[str] = set()
        self._text = text
        self._containers: list[_Quote | _Item] = []
        self._leaf: _Fence | _Html | _Table | _Paragraph | None = None
        front = _FRONT_MATTER.match(text)
        begin = front.end() if front else len(text) - len(text.removeprefix("\ufeff"))
        for line in _LINE.finditer(text, begin):
            if line[0]:
                self._read(_Cursor(text, line.start(1), line.end(1)))
        self._close()

    def _close(self, kind: BlockKind = "paragraph") -> None:
        """End the innermost block."""
        if isinstance(self._leaf, _Paragraph) and self._leaf.lines:
            self.blocks.append(TextBlock(kind, tuple(self._leaf.lines)))
        self._leaf = None

    def _read(self, cursor: _Cursor) -> None:
        """Read a line."""
        matched = self._matched(cursor)
        is_inside = matched == len(self._containers)
        if isinstance(self._leaf, _Fence | _Html):
            if is_inside:
                self._read_untouched(cursor)
                return
            self._close()
        if not cursor.rest:
            self._close()
            del self._containers[matched:]
            return
        while self._opened_container(cursor, matched):
            matched = len(self._containers)
            if not cursor.rest:
                return
        if not self._opened_leaf(cursor, matched):
            self._add_text(cursor, matched)

    def _matched(self, cursor: _Cursor) -> int:
        """Read the markers of the open containers, and return how many are there."""
        for number, container in enumerate(self._containers):
            indent = cursor.indent()
            if isinstance(container, _Quote):
                if indent > 3 or not cursor.rest.startswith(">"):
                    return number
                self._read_quote(cursor, indent)
            elif not cursor.rest:
                if container.is_empty:
                    return number
            elif indent < container.width:
                return number
            else:
                cursor.skip(container.width)
                container.is_empty = False
        return len(self._containers)

    @staticmethod
    def _read_quote(cursor: _Cursor, indent: int) -> None:
        """Read the marker of a quotation."""
        cursor.skip(indent)
        cursor.read(1)
        cursor.skip(1)

    def _read_untouched(self, cursor: _Cursor) -> None:
        """Read a line of code or HTML."""
        if isinstance(self._leaf, _Html):
            end, rest = self._leaf.end, cursor.rest
            if end.search(rest) if end else not rest:
                self._leaf = None
        elif isinstance(self._leaf, _Fence):
            mark, rest = self._leaf.mark, cursor.rest.rstrip(" \t")
            if cursor.indent() <= 3 and rest.startswith(mark) and not rest.strip(mark[0]):
                self._leaf = None

    def _opened_container(self, cursor: _Cursor, matched: int) -> bool:
        """Open a quotation or an item of a list, if one begins here."""
        indent, rest = cursor.indent(), cursor.rest
        if indent > 3 or matched == _DEEPEST:
            return False
        if rest.startswith(">"):
            self._leave(matched)
            self._containers.append(_Quote())
            self._read_quote(cursor, indent)
            return True
        item = _ITEM.match(rest)
        if item is None or _RULE.match(rest):
            return False
        is_empty = not rest[item.end() :].strip(" \t")
        if isinstance(self._leaf, _Paragraph) and matched == len(self._containers):
            if is_empty or (item[1][0].isdigit() and int(item[1][:-1]) != 1):
                return False  # it cannot interrupt a paragraph
            if item[1] == "-" and _UNDERLINE.match(rest):
                return False
        self._leave(matched)
        cursor.skip(indent)
        cursor.read(item.end())
        spaces = cursor.indent()
        inner = 1 if is_empty or spaces > 4 else spaces
        cursor.skip(inner)
        self._containers.append(_Item(indent + item.end() + inner, is_empty))
        if task := _TASK.match(cursor.rest):
            cursor.skip(cursor.indent())
            cursor.read(task.end())
        return True

    def _leave(self, matched: int) -> None:
        """End the innermost block, and the containers beyond those that are there in this line."""
        self._close()
        del self._containers[matched:]

    def _opened_leaf(self, cursor: _Cursor, matched: int) -> bool:
        """Read a line that is, begins or ends a block without being part of a paragraph."""
        indent, rest = cursor.indent(), cursor.rest
        in_paragraph = isinstance(self._leaf, _Paragraph)
        if indent > 3:
            if not in_paragraph:
                self._leave(matched)
            return not in_paragraph  # code
        if in_paragraph and matched == len(self._containers) and self._ended_paragraph(rest):
            return True
        if heading := _HEADING.match(rest):
            self._leave(matched)
            start = cursor.end - len(rest) + heading.end()
            self._add_heading(start, cursor.end)
        elif fence := _FENCE.match(rest):
            self._leave(matched)
            self._leaf = _Fence(fence[1] or fence[2])
        elif html := _html_block(rest, in_paragraph):
            self._leave(matched)
            self._leaf = None if html.end and html.end.search(rest) else html
        elif _RULE.match(rest):
            self._leave(matched)
        else:
            return False
        return True

    def _ended_paragraph(self, rest: str) -> bool:
        """Read the line under a heading, or the ruler of a table, whose first row is the line above."""
        assert isinstance(self._leaf, _Paragraph)
        if _UNDERLINE.match(rest):
            self._close("heading")
            return True
        if "|" not in rest and ":" not in rest and "-" not in rest:
            return False
        header = self._leaf.lines[-1]
        columns = len(list(_cells(self._text, header)))
        if not _RULER.match(rest) or "|" not in self._text[slice(*header)]:
            return False
        if columns != len(list(_cells(rest, (0, len(rest.rstrip()))))):
            return False
        self._leaf.lines.pop()
        self._close()
        self._leaf = _Table(columns)
        self._add_row(header, columns)
        return True

    def _add_row(self, row: Span, columns: int) -> None:
        """Add the cells of a row of a table."""
        cells = list(_cells(self._text, row))[:columns]
        self.blocks += (TextBlock("cell", (cell,)) for cell in cells if cell[0] < cell[1])

    def _add_heading(self, start: int, end: int) -> None:
        """Add a heading, without its attributes and the signs behind it."""
        content = self._text[start:end].rstrip(" \t")
        attributes = content.rfind("{")
        if content.endswith("}") and content[attributes + 1] in "#.:":
            content = content[:attributes].rstrip(" \t")
        without = content.rstrip("#")
        if not without or without[-1] in " \t":
            content = without.rstrip(" \t")
        if content:
            self.blocks.append(TextBlock("heading", ((start, start + len(content)),)))

    def _add_text(self, cursor: _Cursor, matched: int) -> None:
        """Read a line of a paragraph or of a table."""
        if isinstance(self._leaf, _Paragraph):
            self._leaf.lines.append((cursor.content[0], cursor.end))
            return
        if isinstance(self._leaf, _Table) and matched == len(self._containers):
            self._add_row(cursor.content, self._leaf.columns)
            return
        self._leave(matched)
        rest, start = cursor.rest, cursor.content[0]
        if footnote := _FOOTNOTE.match(rest):
            start += footnote.end()
        elif definition := _DEFINITION.match(rest):
            self.labels.add(as_label(definition[1]))
            return
        self._leaf = _Paragraph([(start, cursor.end)] if start < cursor.end else [])


def as_label(label: str) -> str:
    """Return the label of a reference as references are compared."""
    return " ".join(label.split()).casefold()


def _html_block(rest: str, in_paragraph: bool) -> _Html | None:
    """Return the HTML block that begins here; None if none does."""
    if not rest.startswith("<"):
        return None
    for begin, end in _HTML:
        if begin.match(rest):
            return _Html(end)
    return _Html(None) if not in_paragraph and _HTML_TAG.match(rest) else None


def _cells(text: str, row: Span) -> Iterator[Span]:
    """Yield the spans of the cells of a row, without the white space around them."""
    start, end = row
    end = start + len(text[start:end].rstrip(" \t"))
    if text[start:end].startswith("|"):
        start += 1
    while start < end:
        cell = _PIPE.match(text, start, end)
        stop = cell.start(1) if cell and cell[1] == "|" else end
        content = text[start:stop]
        begin = start + len(content) - len(content.lstrip(" \t"))
        yield begin, max(begin, start + len(content.rstrip(" \t")))
        start = stop + 1
