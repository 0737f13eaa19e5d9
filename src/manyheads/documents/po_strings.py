r"""The strings of a PO file: `"as in C\n"`, over several lines where they are long.

How long a line may be follows from the file: from the longest line that was wrapped; without one, lines longer than
gettext writes show that the file is not wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NARROWEST = 79  # columns, as gettext wraps

_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))")
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"'}
_ESCAPES = str.maketrans({character: f"\\{letter}" for letter, character in _CHARACTERS.items()})
_WORDS = re.compile(r"[^ ]* +|[^ ]+")


class Layout(NamedTuple):
    """How strings are laid out in a file: its line end, and the columns of a line (None: lines are not wrapped)."""

    newline: str
    width: int | None

    @classmethod
    def of(cls, text: str, strings: Iterable[Sequence[str]]) -> Layout:
        """Return the layout of a file from all strings of it, each as its lines with their quotes."""
        wrapped, longest = 0, 0
        for lines in strings:
            longest = max(longest, *map(len, lines))
            wrapped = max([wrapped, *(len(line) for line in lines[:-1] if _is_wrapped(line))])
        newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
        return cls(newline, None if not wrapped and longest > NARROWEST else max(NARROWEST, wrapped))


def _is_wrapped(line: str) -> bool:
    """Return whether a line ends where it would have become too long, and not in the middle of a single long word."""
    return not line.endswith('\\n"') and " " in line[:-2]


def decoded(lines: Iterable[str]) -> str:
    """Return the text of a string from its lines with their quotes."""
    return "".join(_ESCAPE.sub(_character, line[1:-1]) if "\\" in line else line[1:-1] for line in lines)


def _character(escape: re.Match[str]) -> str:
    """Return the character of an escape; an escape that C does not have stays as it is."""
    octal, hexadecimal, letter = escape.groups()
    if octal or hexadecimal:
        return chr(int(octal, 8) if octal else int(hexadecimal, 16))
    return _CHARACTERS.get(letter, escape[0])


def encoded(text: str, keyword: str, layout: Layout) -> str:
    """Return a text as a string behind a keyword: on one line if it fits, else an empty string and lines of it."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    escaped = [line.translate(_ESCAPES) for line in lines if line]
    if len(escaped) <= 1 and (layout.width is None or len(keyword) + 3 + len("".join(escaped)) <= layout.width):
        return f'"{"".join(escaped)}"'
    pieces = [piece for line in escaped for piece in _wrapped(line, layout.width)]
    return layout.newline.join(f'"{piece}"' for piece in ["", *pieces])


def _wrapped(line: str, width: int | None) -> list[str]:
    """Return the pieces of a line that fit into the width with their quotes; only spaces divide them."""
    if width is None:
        return [line]
    pieces = [""]
    for word in _WORDS.findall(line):
        if pieces[-1] and len(pieces[-1]) + len(word) + 2 > width:
            pieces.append("")
        pieces[-1] += word
    return pieces
