"""The text of a Markdown block, with emphasis, links, code, HTML and hard line breaks.

A hard line break is a line break of the text. Code, images, addresses in angle brackets and footnotes are tags that
stand alone; emphasis and links are tags around their text. The rules are those of CommonMark (section 6), with `~~` of
GitHub.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from manyheads.documents.html import INLINE_UNTOUCHED, VOID
from manyheads.documents.interface import Styled, Tag, TagKind
from manyheads.documents.markdown_blocks import as_label

_PUNCTUATION = re.escape(string.punctuation)
_LONGEST_LABEL = 999  # characters
_LABEL = r"((?:[^\[\]\\]|\\.){0,999})"
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*+(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_TOKEN = re.compile(
    rf"(?P<escape>\\[{_PUNCTUATION}])|(?P<line_end>\n)|(?P<ticks>`+)"
    r"|(?P<address><[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>|<[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255}>)"
    rf"|(?P<html></[A-Za-z][\w-]*+\s*>|<[A-Za-z][\w-]*+(?:{_ATTRIBUTE})*+\s*/?>)|(?P<comment><!--)"
    r"|(?P<declaration><![A-Za-z][^>]{0,999}+>|<\?(?:[^?]|\?(?!>)){0,999}+\?>)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<footnote>\[\^[^\]\s]{1,999}\])|(?P<bracket>!?\[)|(?P<end>\])|(?P<run>\*+|_+|~+)"
)
_PARENTHESES = r"(?:[^\s()\\<]|\\.|<(?!\s)|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+\))"
_DESTINATION = re.compile(
    rf"\(\s*+(?:(?:<[^<>\n]*>|{_PARENTHESES}*+)(?:\s++(?:\"(?:[^\"\\]|\\.){{0,999}}+\"|'(?:[^'\\]|\\.){{0,999}}+'"
    r"|\((?:[^()\\]|\\.){0,999}+\)))?+)?+\s*+\)",
    re.DOTALL,
)
_REFERENCE = re.compile(rf"\[{_LABEL}\]", re.DOTALL)
_TAG_NAME = re.compile(r"</?([A-Za-z][\w-]*)")


@dataclass
class _Part:
    """A text, or a tag that stands alone, opens or closes."""

    kind: TagKind | None
    raw: str


@dataclass
class _Run:
    """A run of `*`, `_` or `~`, and the tags that were made of it."""

    sign: str
    count: int
    can_open: bool
    can_close: bool
    length: int
    closing: list[str] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)

    def parts(self) -> Iterator[_Part]:
        """Yield the tags, and what is left between them as text."""
        yield from (_Part("close", raw) for raw in self.closing)
        yield _Part(None, self.sign * self.count)
        yield from (_Part("open", raw) for raw in self.opening)


class _Bracket(NamedTuple):
    """An opening bracket: where it is among the parts and in the text."""

    part: int
    start: int
    stop: int


def inline_content(raw: str, labels: Collection[str]) -> Styled:
    """Return the content of a block, from its lines without their markers."""
    texts: list[str] = []
    tags: list[Tag] = []
    length = 0
    for part in _Inline(raw, labels).parts():
        if part.kind is None:
            texts.append(part.raw)
            length += len(part.raw)
        else:
            tags.append(Tag(length, part.kind, part.raw))
    return Styled("".join(texts), tuple(tags))


class _Inline:
    """One reading of the text of a block."""

    def __init__(self, raw: str, labels: Collection[str]) -> None:
        self._raw, self._labels = raw, labels
        self._parts: list[_Part | _Run] = []
        self._brackets: list[_Bracket] = []
        self._ticks: dict[int, list[int]] = {}
        for ticks in re.finditer("`+", raw):
            self._ticks.setdefault(len(ticks[0]), []).append(ticks.start())
        self._read()

    def parts(self) -> Iterator[_Part]:
        """Yield the parts in order."""
        _pair(self._parts)
        for part in self._parts:
            yield from part.parts() if isinstance(part, _Run) else (part,)

    def _read(self) -> None:
        """Read the whole text."""
        position = 0
        while token := _TOKEN.search(self._raw, position):
            before = self._raw[position : token.start()]
            if token.lastgroup == "line_end":
                self._read_line_end(before)
                position = token.end()
            else:
                self._text(before)
                position = self._read_token(token)
        self._text(self._raw[position:])

    def _text(self, text: str) -> None:
        """Add a text."""
        if text:
            self._parts.append(_Part(None, text))

    def _tag(self, kind: TagKind, start: int, stop: int) -> int:
        """Add a tag, and return where it ends."""
        self._parts.append(_Part(kind, self._raw[start:stop].replace("\n", " ")))
        return stop

    def _read_token(self, token: re.Match[str]) -> int:
        """Read what begins at a token, and return where it ends."""
        start, stop = token.span()
        match token.lastgroup:
            case "escape":
                self._text(token[0][1])
            case "entity":
                self._text(unescape(token[0]))
            case "address" | "footnote" | "declaration":
                return self._tag("atom", start, stop)
            case "ticks":
                return self._read_code(start, stop)
            case "html":
                return self._read_html(start, stop)
            case "comment":
                end = self._raw.find("-->", stop)
                return self._tag("atom", start, end + 3) if end >= 0 else self._as_text(start, stop)
            case "bracket":
                self._brackets.append(_Bracket(len(self._parts), start, stop))
                self._text(token[0])
            case "end":
                return self._read_bracket(start, stop)
            case "run":
                self._parts.append(self._run(start, stop))
        return stop

    def _read_line_end(self, before: str) -> None:
        """Read the end of a line after a text: two spaces or a backslash before it make it a hard one."""
        text = before.rstrip(" \t")
        if before.endswith("\\"):
            self._text(before[:-1] + "\n")
        else:
            self._text(text + ("\n" if before.endswith("  ") else " "))

    def _as_text(self, start: int, stop: int) -> int:
        """Add what begins nothing as text."""
        self._text(self._raw[start:stop])
        return stop

    def _read_code(self, start: int, stop: int) -> int:
        """Read code, or backticks without an end."""
        same = self._ticks.get(stop - start, [])
        following = bisect_left(same, stop)
        if following == len(same):
            return self._as_text(start, stop)
        return self._tag("atom", start, same[following] + stop - start)

    def _read_html(self, start: int, stop: int) -> int:
        """Read an HTML tag; with its content, if that is code."""
        raw = self._raw[start:stop]
        name = _TAG_NAME.match(raw)
        assert name
        if raw.startswith("</"):
            return self._tag("close", start, stop)
        if name[1].lower() in VOID or raw.endswith("/>"):
            return self._tag("atom", start, stop)
        end = f"</{name[1]}>"
        if name[1].lower() in INLINE_UNTOUCHED and (found := self._raw.find(end, stop)) >= 0:
            return self._tag("atom", start, found + len(end))
        return self._tag("open", start, stop)

    def _run(self, start: int, stop: int) -> _Run:
        """Return a run of signs, and whether it may open or close emphasis."""
        sign = self._raw[start]
        before, after = self._raw[start - 1 : start] if start else "", self._raw[stop : stop + 1]
        opens, closes = flanks(before, after)
        if sign == "_":
            is_left, is_right = opens, closes
            opens = is_left and (not is_right or _is_punctuation(before))
            closes = is_right and (not is_left or _is_punctuation(after))
        if sign == "~" and stop - start != 2:
            opens = closes = False
        return _Run(sign, stop - start, opens, closes, stop - start)

    def _read_bracket(self, start: int, stop: int) -> int:
        """Read a closing bracket: the end of a link or of an image, or text."""
        if not self._brackets:
            return self._as_text(start, stop)
        bracket = self._brackets.pop()
        end, closing = self._target(bracket, start, stop)
        if not closing:
            return self._as_text(start, stop)
        is_image = self._raw[bracket.start] == "!"
        if is_image:
            del self._parts[bracket.part :]
            return self._tag("atom", bracket.start, end)
        inner = self._parts[bracket.part + 1 :]
        _pair(inner)
        self._parts[bracket.part :] = [
            _Part("open", "["),
            *(one for part in inner for one in (part.parts() if isinstance(part, _Run) else (part,))),
            _Part("close", closing.replace("\n", " ")),
        ]
        self._brackets = [one for one in self._brackets if self._raw[one.start] == "!"]  # no link is in a link
        return end

    def _target(self, bracket: _Bracket, start: int, stop: int) -> tuple[int, str]:
        """Return where a link ends, and what closes it: with the label of its text written out, which is translated."""
        if inline := _DESTINATION.match(self._raw, stop):
            return inline.end(), "]" + inline[0]
        reference = _REFERENCE.match(self._raw, stop)
        label = self._raw[bracket.stop : start]
        if reference and reference[1]:
            is_known = as_label(reference[1]) in self._labels
            return (reference.end(), "]" + reference[0]) if is_known else (stop, "")
        if len(label) > _LONGEST_LABEL or as_label(label) not in self._labels:
            return stop, ""
        return (reference.end() if reference else stop), f"][{label}]"


def flanks(before: str, after: str) -> tuple[bool, bool]:
    """Return whether signs between two characters may open and may close emphasis; "" is the end of the text."""
    space_before, space_after = not before.strip(), not after.strip()
    opens = not space_after and (not _is_punctuation(after) or space_before or _is_punctuation(before))
    closes = not space_before and (not _is_punctuation(before) or space_after or _is_punctuation(after))
    return opens, closes


def _is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation or a symbol."""
    return bool(character) and not character.isalnum() and not character.isspace()


def _pair(parts: list[_Part | _Run]) -> None:
    """Make tags of the runs that open and close emphasis."""
    runs = [part for part in parts if isinstance(part, _Run)]
    bottoms: dict[tuple[str, bool, int], int] = {}  # below which no run opens what such a run closes
    number = 0
    while number < len(runs):
        closer = runs[number]
        key = (closer.sign, closer.can_open, closer.length % 3)
        if not closer.can_close or not closer.count:
            number += 1
            continue
        bottom = bottoms.get(key, 0)
        opener = next((back for back in range(number - 1, bottom - 1, -1) if _fit(runs[back], closer)), None)
        if opener is None:
            bottoms[key] = number
            number += 1
            continue
        size = 2 if runs[opener].count >= 2 and closer.count >= 2 else 1
        raw = closer.sign * size
        runs[opener].opening.insert(0, raw)
        closer.closing.append(raw)
        runs[opener].count -= size
        closer.count -= size
        del runs[opener + 1 : number]
        bottoms = {key: min(value, opener + 1) for key, value in bottoms.items()}
        number = opener + 1


def _fit(opener: _Run, closer: _Run) -> bool:
    """Return whether one run may open what another closes."""
    if opener.sign != closer.sign or not opener.can_open or not opener.count:
        return False
    is_ambiguous = opener.can_close or closer.can_open
    return not is_ambiguous or bool((opener.length + closer.length) % 3) or not (opener.length % 3 or closer.length % 3)
