r"""JSON catalogues: every value that is a string is a segment, at any depth.

Keys, numbers, order, indentation and all other strings stay as they are. The key of a segment is its path, such as
`config.error.unknown` or `steps[2].title`. Where a file has no character beyond ASCII but escapes such as `\u00e4`, new
texts are escaped in the same way. A key that is twice in the same object is refused, as no one can know which counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from manyheads.bounded.json_text import DEEPEST, parse_json
from manyheads.documents.interface import Segment, Styled
from manyheads.documents.lines import Lines
from manyheads.documents.slots import Slot, SlotDocument, limited
from manyheads.errors import ManyheadsError

LONGEST_KEY = 200  # characters of a key in the path, which every value inside repeats

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]')
_ESCAPED = re.compile(r"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")  # a character beyond ASCII, as an escape
_HALF = re.compile("[\ud800-\udfff]")  # of a pair that stands for a character


class _Value(NamedTuple):
    """A value that is a string: its path, its text as it is written, and its place."""

    path: str
    raw: str
    start: int


class _Level:
    """An object or an array that is being read."""

    def __init__(self, path: str, bracket: str) -> None:
        self.path = path
        self.bracket = bracket  # none around the whole
        self.keys: set[str] = set()
        self.key: str | None = None  # of the value that follows
        self.index = 0

    @property
    def here(self) -> str:
        """The path of the next value."""
        if self.bracket == "[":
            return f"{self.path}[{self.index}]"
        key = (self.key or "")[:LONGEST_KEY]
        return f"{self.path}.{key}" if self.path else key


def read_json_catalogue(text: str, *, language: str | None) -> SlotDocument:
    """Return a JSON catalogue as a document."""
    _require_json(text)
    return SlotDocument(text, limited(_slots(text)), (None, language))


def _slots(text: str) -> Iterator[Slot]:
    """Yield a slot for each value that is a text."""
    is_escaped = text.isascii() and _ESCAPED.search(text) is not None

    def written(translation: Styled) -> str:
        """Return a translation as a string in JSON."""
        return json.dumps(translation.text, ensure_ascii=is_escaped)

    lines = Lines(text)
    for path, raw, start in _values(text):
        source, line = Styled(json.loads(raw)), lines.number(start)
        if _HALF.search(source.text):
            raise _refusal("this text has half of a character, such as \\ud83d alone", line, "Write the character.")
        if source.text.strip():
            yield Slot(Segment(source, line=line, key=path), start, start + len(raw), source, written)


def _require_json(text: str) -> None:
    """Raise an error for a text that is not JSON."""
    try:
        parse_json(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise _refusal(f"this JSON cannot be read ({error.msg})", error.lineno) from None
    except ValueError as error:
        raise _refusal(f"this JSON cannot be read: {error}", None) from None


def _values(text: str) -> Iterator[_Value]:
    """Yield the values that are strings, of a text that is JSON."""
    levels = [_Level("", "")]
    for token in _TOKEN.finditer(text):
        raw, level = token[0], levels[-1]
        if raw in "{[":
            levels.append(_Level(level.here, raw))
            if len(levels) > DEEPEST + 1:
                line = text.count("\n", 0, token.start()) + 1
                raise _refusal(f"this JSON is nested more than {DEEPEST} levels deep", line)
        elif raw in "}]":
            levels.pop()
        elif raw == ",":
            level.key, level.index = None, level.index + 1
        elif raw != ":" and level.bracket == "{" and level.key is None:
            level.key = _new_key(level, text, token)
        elif raw != ":":
            yield _Value(level.here, raw, token.start())


def _new_key(level: _Level, text: str, token: re.Match[str]) -> str:
    """Return a key of an object, which must not be there twice."""
    key = str(json.loads(token[0]))
    if key in level.keys:
        line = text.count("\n", 0, token.start()) + 1
        raise _refusal(f"the key '{key[:60]}' is twice in the same object", line, "Remove one of the two.")
    level.keys.add(key)
    return key


def _refusal(problem: str, line: int | None, cure: str | None = None) -> ManyheadsError:
    """Return the error for a catalogue that is refused."""
    return ManyheadsError(f"{problem}.", where=None if line is None else f"line {line}", cure=cure)
