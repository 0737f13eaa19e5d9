"""The entries of a PO file with the place of every part: comments, keywords and strings, as gettext's grammar has them.

polib reads such files too, but writes them in its own layout, so it cannot keep what it does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from manyheads.documents.lines import Lines
from manyheads.documents.po_strings import decoded
from manyheads.errors import ManyheadsError

MOST_PARTS = 1_000_000  # comments, keywords and lines of strings

_TOKEN = re.compile(
    r"[ \t\r\n\f\v]+"
    r"|(?P<comment>#[^\r\n]*)"
    r"|(?P<keyword>(?:msgctxt|msgid_plural|msgid|msgstr(?:[ \t]*\[[ \t]*(?P<form>\d{1,4})[ \t]*\])?)(?!\w))"
    r'|(?P<string>"(?:[^"\\\r\n]++|\\[^\r\n])*+")'
)
_KINDS = tuple(",.:|=~")
_FOLLOWS = {  # what each keyword may come after in an entry
    "msgctxt": ("",),
    "msgid": ("", "msgctxt"),
    "msgid_plural": ("msgid",),
    "msgstr": ("msgid", "msgid_plural", "msgstr"),
}


class Comment(NamedTuple):
    """A comment of one line, without its line end."""

    text: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """The marker of its kind, such as `#,`; `#` for a comment of translators."""
        return self.text[:2] if self.text[1:2] in _KINDS else "#"

    @property
    def content(self) -> str:
        """The text behind the marker."""
        return self.text.removeprefix(self.kind).strip()


@dataclass(slots=True)
class PoString:
    """A keyword with its string, whose lines are at `whole[start:end]`."""

    keyword: str
    keyword_start: int
    start: int = 0
    end: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The string, escapes decoded."""
        return decoded(self.lines)


@dataclass(slots=True)
class Entry:
    """An entry: its comments and strings, and the line of its `msgid`."""

    comments: list[Comment]
    strings: dict[str, PoString] = field(default_factory=dict)  # by keyword, in order
    line: int = 0

    @property
    def key(self) -> tuple[str | None, str]:
        """The context and the text that must not be there twice."""
        return self.strings["msgctxt"].text if "msgctxt" in self.strings else None, self.strings["msgid"].text

    @property
    def forms(self) -> list[PoString]:
        """The strings for translations: one, or one for each plural form."""
        return [string for keyword, string in self.strings.items() if keyword.startswith("msgstr")]

    @property
    def is_plural(self) -> bool:
        """Whether it has plural forms."""
        return "msgid_plural" in self.strings

    @property
    def flags(self) -> list[str]:
        """The flags, such as `fuzzy` and `c-format`."""
        lists = [comment.content for comment in self.comments if comment.kind == "#,"]
        return [flag.strip() for flags in lists for flag in flags.split(",")]

    @property
    def first_keyword(self) -> int:
        """The place of its first keyword."""
        return next(iter(self.strings.values())).keyword_start


def read_entries(text: str) -> list[Entry]:
    """Return the entries of a PO file, without obsolete ones."""
    entries = [entry for entry in _Reading(text).entries() if entry.strings]
    known: dict[tuple[str | None, str], Entry] = {}
    for entry in entries:
        if (first := known.setdefault(entry.key, entry)) is not entry:
            raise refusal(f"line {first.line} has an entry for the same text", entry.line, "Remove one of the two.")
    return entries


def refusal(problem: str, line: int, cure: str = "Correct it with an editor for PO files.") -> ManyheadsError:
    """Return the error for a file that is refused."""
    return ManyheadsError(f"{problem}.", where=f"line {line}", cure=cure)


class _Reading:
    """One pass over a file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._entry = Entry([])
        self._last: PoString | None = None  # the string that another line would continue
        self._lines = Lines(text)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries; the last one may be without strings."""
        at = len(self._text) - len(self._text.removeprefix("\ufeff"))
        parts = 0
        while at < len(self._text):
            token = _TOKEN.match(self._text, at)
            if token is None:
                shown = self._text[at : at + 40].splitlines()[0]
                raise refusal(f"this is not part of a PO file: {shown}", self._lines.number(at))
            if self._is_complete and (token["comment"] or token["keyword"] in ("msgctxt", "msgid")):
                yield self._ended(at)
            self._add(token)
            at = token.end()
            parts += not token[0].isspace()
            if parts > MOST_PARTS:
                raise refusal(f"this file has more than {MOST_PARTS:,} comments and strings", self._lines.number(at))
        yield self._ended(at)

    @property
    def _is_complete(self) -> bool:
        """Whether the entry has a translation, which may be empty."""
        return self._last is not None and bool(self._last.lines) and self._last.keyword.startswith("msgstr")

    def _ended(self, at: int) -> Entry:
        """Return the entry, and begin another."""
        if self._entry.strings and not self._is_complete:
            raise refusal("this entry ends before its msgstr", self._lines.number(at))
        ended, self._entry, self._last = self._entry, Entry([]), None
        return ended

    def _add(self, token: re.Match[str]) -> None:
        """Add a token to the entry."""
        if token["comment"] is not None:
            if token["comment"].startswith("#~"):
                self._entry.comments.clear()  # they belong to an obsolete entry
            elif not self._entry.strings:
                self._entry.comments.append(Comment(token["comment"], token.start(), token.end()))
        elif token["keyword"] is not None:
            self._add_keyword(token)
        elif token["string"] is not None:
            if self._last is None:
                raise refusal("this string has no keyword", self._lines.number(token.start()))
            if not self._last.lines:
                self._last.start = token.start()
            self._last.lines.append(token["string"])
            self._last.end = token.end()

    def _add_keyword(self, token: re.Match[str]) -> None:
        """Begin the string of a keyword, if the keyword may come there."""
        kind = token["keyword"].partition("[")[0].strip()
        keyword = kind if token["form"] is None else f"msgstr[{int(token['form'])}]"
        line = self._lines.number(token.start())
        previous = self._last.keyword.partition("[")[0] if self._last else ""
        if (self._last and not self._last.lines) or previous not in _FOLLOWS[kind]:
            raise refusal(f"'{keyword}' is not expected here", line)
        number = len(self._entry.forms)
        if kind == "msgstr" and keyword != (f"msgstr[{number}]" if self._entry.is_plural else "msgstr"):
            raise refusal(f"'{keyword}' is not a plural form that is expected here", line)
        if keyword in self._entry.strings:
            raise refusal(f"this entry has '{keyword}' twice", line)
        self._last = PoString(keyword, token.start())
        self._entry.strings[keyword] = self._last
        if kind == "msgid":
            self._entry.line = line
