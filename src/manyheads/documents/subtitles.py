r"""Subtitles: SRT and WebVTT.

A cue is a segment, whatever its lines; where several lines begin with a dash, each speaker is one. Translations are
written in one line, or in two of similar length where they are longer than 42 characters and than the lines of the cue.
Numbers, times, settings, styles and notes stay as they are. Formatting (`<i>`, `<c.loud>`, `{\an8}`) is inline tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from typing import NamedTuple

from manyheads.documents.html_parts import unescaped
from manyheads.documents.interface import Segment, Styled, Tag, TagKind
from manyheads.documents.limits import require_length
from manyheads.documents.slots import Slot, SlotDocument
from manyheads.errors import ManyheadsError

LARGEST = 1 << 22  # characters
LONGEST_LINE = 42  # characters, as is usual for subtitles

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?=\s|$)")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_TAG = re.compile(r"<(/?)([a-zA-Z])[^<>]*>|<[\d:.]{5,20}>|\{\\[^{}]*\}")
_DASH = re.compile(r"\s*(?:<[^<>]*>\s*|\{[^{}]*\}\s*)*[-‐–—]\s*[^\s-]")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")


class _Line(NamedTuple):
    """A line of the file: its number, its text, and where it is."""

    number: int
    text: str
    start: int
    line_end: str

    @property
    def end(self) -> int:
        """Where its text ends."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class _Syntax:
    """How a format writes text: with references to characters, or as it is."""

    decoded: Callable[[str], str]
    encoded: Callable[[str], str]


_SRT = _Syntax(str, str)
_WEBVTT = _Syntax(unescaped, partial(escape, quote=False))


def read_srt(text: str, *, language: str | None) -> SlotDocument:
    """Return subtitles in SRT as a document."""
    return _document(text, list(_blocks(text)), _SRT, language)


def read_webvtt(text: str, *, language: str | None) -> SlotDocument:
    """Return subtitles in WebVTT as a document."""
    if not re.match(r"\ufeff?WEBVTT(?=\s|$)", text):
        raise ManyheadsError("this is not WebVTT, whose first line begins with WEBVTT.", where="line 1")
    blocks = [block for block in _blocks(text) if not _ASIDE.match(block[0].text)]
    return _document(text, blocks[1:], _WEBVTT, language)


def _blocks(text: str) -> Iterator[list[_Line]]:
    """Yield the lines between blank lines."""
    require_length(text, "file of subtitles", most=LARGEST)
    lines = (
        _Line(number, match[1], match.start(), match[2]) for number, match in enumerate(_LINE.finditer(text), start=1)
    )
    for is_blank, block in groupby(lines, key=lambda line: not line.text.strip("\ufeff \t")):
        if not is_blank:
            yield list(block)


def _document(text: str, blocks: Sequence[list[_Line]], syntax: _Syntax, language: str | None) -> SlotDocument:
    """Return the document of some cues."""
    slots: list[Slot] = []
    previous = 0
    for block in blocks:
        head = next((number for number, line in enumerate(block[:2]) if "-->" in line.text), None)
        if head is None:
            raise ManyheadsError(
                f"this cue has no line with its times: '{_shown(block[0])}'.",
                where=f"line {block[0].number}",
                cure="Remove the blank line before it, or add the times.",
            )
        previous = _checked_start(block[head], previous)
        key = block[0].text.strip("\ufeff ") if head else ""
        slots += _slots(block[head + 1 :], key, syntax)
    return SlotDocument(text, tuple(slots), (None, language))


def _checked_start(line: _Line, previous: int) -> int:
    """Return when a cue begins, in milliseconds; times must not run backwards."""
    times = _TIMES.match(line.text)
    if times is None:
        raise ManyheadsError(
            f"the times of this cue cannot be read: '{_shown(line)}'.",
            where=f"line {line.number}",
            cure="Write them as 00:01:02,345 --> 00:01:04,000.",
        )
    start, end = (_milliseconds(times.groups()[first : first + 4]) for first in (0, 4))
    if end < start or start < previous:
        problem = "ends before it begins" if end < start else "begins before the one above it"
        raise ManyheadsError(
            f"times run backwards: this cue {problem} ('{_shown(line)}').",
            where=f"line {line.number}",
            cure="Correct the times, or sort the cues by them.",
        )
    return start


def _milliseconds(parts: Sequence[str | None]) -> int:
    """Return a time of hours, minutes, seconds and the digits of their fraction in milliseconds."""
    hours, minutes, seconds, fraction = parts
    assert minutes and seconds and fraction
    return (int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0"))


def _shown(line: _Line) -> str:
    """Return the beginning of a line for a message."""
    return line.text.strip("\ufeff ")[:40]


def _slots(lines: Sequence[_Line], key: str, syntax: _Syntax) -> Iterator[Slot]:
    """Yield the slots of a cue: one, or one for each speaker."""
    dashes = [number for number, line in enumerate(lines) if _DASH.match(line.text)]
    begins = [0, *dashes[1:]] if len(dashes) > 1 else [0]
    longest = max([LONGEST_LINE, *(len(_content(line.text, syntax).text) for line in lines)])
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        part = lines[begin:end]
        content = _content(" ".join(line.text.strip() for line in part), syntax)
        if content.text.strip():
            limit = longest if len(begins) == 1 else None
            write = partial(_written, limit=limit, line_end=part[0].line_end or "\n", syntax=syntax)
            segment = Segment(content, line=part[0].number, key=key)
            yield Slot(segment, part[0].start, part[-1].end, content, write)


def _content(raw: str, syntax: _Syntax) -> Styled:
    """Return the text of a cue, with its tags."""
    texts: list[str] = []
    tags: list[Tag] = []
    length = done = 0
    for match in _TAG.finditer(raw):
        texts.append(syntax.decoded(raw[done : match.start()]))
        length += len(texts[-1])
        kind: TagKind = "close" if match[1] else "open" if match[2] else "atom"
        tags.append(Tag(length, kind, match[0]))
        done = match.end()
    return Styled("".join([*texts, syntax.decoded(raw[done:])]), tuple(tags))


def _written(content: Styled, *, limit: int | None, line_end: str, syntax: _Syntax) -> str:
    """Return the text of a cue as it is written; in one line without a limit."""
    text = " ".join(re.split(r"[\r\n]", content.text))
    cut = _cut(text) if limit is not None and len(text) > limit else None
    parts: list[str] = []
    done = 0
    for tag in content.tags:
        parts += _broken(text, done, tag.offset, cut, line_end, syntax), tag.raw
        done = tag.offset
    return "".join([*parts, _broken(text, done, len(text), cut, line_end, syntax)])


def _broken(text: str, start: int, stop: int, cut: int | None, line_end: str, syntax: _Syntax) -> str:
    """Return a part of a text, with a line break in place of the space at `cut`."""
    if cut is None or not start <= cut < stop:
        return syntax.encoded(text[start:stop])
    return syntax.encoded(text[start:cut]) + line_end + syntax.encoded(text[cut:stop].removeprefix(" "))


def _cut(text: str) -> int | None:
    """Return where to break a text into two lines of similar length: at a space, or anywhere if it has none."""
    spaces = [number for number in range(1, len(text) - 1) if text[number] == " "]
    letters = [number for number in range(1, len(text)) if text[number - 1 : number + 1].isalnum()]
    anywhere = [] if text.isascii() else letters
    return min(spaces or anywhere, key=lambda number: abs(2 * number + bool(spaces) - len(text)), default=None)
