"""Messages of ICU: which parts of a plural or a choice are text, and which are its skeleton.

    You have {count, plural, one {# file} other {# files}}.
    ^^^^^^^^                      ^^^^^^        ^^^^^^^   ^

The marked parts are translated, each by itself; the rest stays as it is. The forms are those of the source: a language
that needs others (`few`, `many`) gets them from its translator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]
"""Start and stop of a part of a text."""

_ARGUMENT = re.compile(r"\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
_FORM = re.compile(r"\s*(?:=\d+|[\w-]+)\s*\{")
_CLOSING = re.compile(r"\s*\}")
_BRACE_OR_QUOTE = re.compile(r"'[{}#|][^']*(?:'|$)|[{}]")  # an apostrophe before a brace begins quoted text
MOST_NESTED = 8  # choices within choices


class _UnbalancedError(Exception):
    """Braces that do not match: the text is no message."""


def message_spans(text: str) -> list[Span]:
    """Return the parts of a message that are text, in order; one part, the whole, if it has no plural and no choice."""
    if _ARGUMENT.search(text) is None:  # most texts
        return [(0, len(text))]
    try:
        return [(start, stop) for start, stop in _texts(text, 0, len(text), 0) if text[start:stop].strip()]
    except _UnbalancedError:
        return [(0, len(text))]


def message_arguments(text: str) -> list[str]:
    """Return the arguments of the plurals and choices of a message, such as `{count, plural}`."""
    found = [match[0].strip("{, \n\t").split(",") for match in _ARGUMENT.finditer(text)]
    return [f"{{{name.strip()}, {kind.strip()}}}" for name, kind, *_ in found]


def _texts(text: str, start: int, stop: int, depth: int) -> Iterator[Span]:
    """Yield the parts between `start` and `stop` that are text."""
    if depth > MOST_NESTED:
        raise _UnbalancedError
    while match := _ARGUMENT.search(text, start, stop):
        yield start, match.start()
        place = match.end()
        while form := _FORM.match(text, place, stop):
            place = _closing(text, form.end(), stop)
            yield from _texts(text, form.end(), place - 1, depth + 1)
        closing = _CLOSING.match(text, place, stop)
        if closing is None:
            raise _UnbalancedError
        start = closing.end()
    yield start, stop


def _closing(text: str, start: int, stop: int) -> int:
    """Return the offset behind the brace that closes a form whose text starts at `start`."""
    depth = 1
    for match in _BRACE_OR_QUOTE.finditer(text, start, stop):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise _UnbalancedError
