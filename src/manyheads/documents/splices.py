"""Parts of a text replaced by others: how every format is filled without touching what it does not know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Splice(NamedTuple):
    """The text that replaces `whole[start:end]`; with `start == end`, it is inserted."""

    start: int
    end: int
    text: str


def spliced(whole: str, splices: Iterable[Splice]) -> str:
    """Return a text with its splices in place; they must not overlap."""
    parts: list[str] = []
    done = 0
    for splice in sorted(splices, key=lambda one: (one.start, one.end)):
        if splice.start < done:
            raise ValueError(f"two splices overlap at {splice.start}")
        parts += whole[done : splice.start], splice.text
        done = splice.end
    return "".join([*parts, whole[done:]])
