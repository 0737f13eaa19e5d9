"""Messages of ICU: which parts of a plural or a choice are text, and which are its skeleton.

    You have {count, plural, one {# file} other {# files}}.
    ^^^^^^^^                      ^^^^^^        ^^^^^^^   ^

The marked parts are text; the rest stays as it is. `message_sentences` makes whole sentences of them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Span = tuple[int, int]
"""Start and stop of a part of a text."""

_ARGUMENT = re.compile(r"\{\s*[\w.-]+\s*,\s*(plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
_FORM = re.compile(r"\s*(=\d+|[\w-]+)\s*\{")
_CLOSING = re.compile(r"\s*\}")
_BRACE_OR_QUOTE = re.compile(r"'[{}#|][^']*(?:'|$)|[{}]")  # an apostrophe before a brace begins quoted text
MOST_NESTED = 8  # choices within choices


class Form(NamedTuple):
    """A form of a choice: how it opens, such as ` one {`, its name, and what is in its braces."""

    opening: str
    name: str
    parts: Sequence[str | Choice]


class Choice(NamedTuple):
    """A plural or a choice: how it begins, such as `{n, plural,`, its kind, its forms, and how it ends."""

    head: str
    kind: str
    forms: Sequence[Form]
    tail: str


class _UnbalancedError(Exception):
    """Braces that do not match: the text is no message."""


def parse_message(text: str) -> list[str | Choice]:
    """Return the texts and choices of a message; the text alone if it has no choice, or its braces do not match."""
    if _ARGUMENT.search(text) is None:  # most texts
        return [text]
    try:
        return list(_parts(text, 0, len(text), 0))
    except _UnbalancedError:
        return [text]


def written(parts: Sequence[str | Choice]) -> str:
    """Return a message as a text."""
    return "".join(part if isinstance(part, str) else _written_choice(part) for part in parts)


def message_spans(text: str) -> list[Span]:
    """Return the parts of a message that are text, in order; one part, the whole, if it has no plural and no choice."""
    parts = parse_message(text)
    if parts == [text]:
        return [(0, len(text))]
    return [(start, stop) for start, stop in _spans(parts, 0) if text[start:stop].strip()]


def message_arguments(text: str) -> list[str]:
    """Return the arguments of the plurals and choices of a message, such as `{count, plural}`."""
    found = [match[0].strip("{, \n\t").split(",") for match in _ARGUMENT.finditer(text)]
    return [f"{{{name.strip()}, {kind.strip()}}}" for name, kind, *_ in found]


def _written_choice(choice: Choice) -> str:
    """Return a choice as a text."""
    forms = "".join(f"{form.opening}{written(form.parts)}}}" for form in choice.forms)
    return f"{choice.head}{forms}{choice.tail}"


def _spans(parts: Sequence[str | Choice], at: int) -> Iterator[Span]:
    """Yield the spans of texts in a message that begins at an offset."""
    for part in parts:
        if isinstance(part, str):
            yield at, at + len(part)
            at += len(part)
            continue
        at += len(part.head)
        for form in part.forms:
            at += len(form.opening)
            yield from _spans(form.parts, at)
            at += len(written(form.parts)) + 1
        at += len(part.tail)


def _parts(text: str, start: int, stop: int, depth: int) -> Iterator[str | Choice]:
    """Yield the texts and choices between `start` and `stop`."""
    if depth > MOST_NESTED:
        raise _UnbalancedError
    while match := _ARGUMENT.search(text, start, stop):
        yield text[start : match.start()]
        forms, place = [], match.end()
        while form := _FORM.match(text, place, stop):
            place = _closing(text, form.end(), stop)
            forms.append(Form(form[0], form[1], list(_parts(text, form.end(), place - 1, depth + 1))))
        closing = _CLOSING.match(text, place, stop)
        if closing is None:
            raise _UnbalancedError
        yield Choice(match[0], match[1], forms, closing[0])
        start = closing.end()
    yield text[start:stop]


def _closing(text: str, start: int, stop: int) -> int:
    """Return the offset behind the brace that closes a form whose text starts at `start`."""
    depth = 1
    for match in _BRACE_OR_QUOTE.finditer(text, start, stop):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise _UnbalancedError
