"""A text longer than the model has learned to read, cut where a reader would pause, so that each part is read alone.

Sentences come first, then clauses, then words, then characters: the coarsest cut that makes every part short enough.
What stood between two parts is kept, so that their translations can be put together in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from manyheads.decoding.sentences import outline

CUTS = (
    re.compile(r"(?<=[,;:])(\s+)|(?<=[，；：、])(\s*)"),  # clauses
    re.compile(r"(\s+)"),  # words
)


class Part(NamedTuple):
    """A piece of a text, and the white space behind it."""

    text: str
    gap: str = ""


def split(text: str, fits: Callable[[str], bool]) -> list[Part]:
    """Return the parts of a text, each of which fits; nothing of the text is lost."""
    if fits(text) or len(text) < 2:
        return [Part(text)]
    for cut in (None, *CUTS):
        parts = _sentences(text) if cut is None else _parts(text, cut)
        if len(parts) > 1:
            return [piece for part in parts for piece in _within(part, fits)]
    half = len(text) // 2
    return [*split(text[:half], fits), *split(text[half:], fits)]


def join(translations: Sequence[str], parts: Sequence[Part]) -> str:
    """Put the translations of parts together as the parts were."""
    return "".join(text + part.gap for text, part in zip(translations, parts, strict=True)).strip()


def _sentences(text: str) -> list[Part]:
    """Return the sentences of a text, after whatever white space it begins with."""
    found = outline(text, longest=len(text))
    before, *behind = found.gaps
    parts = [Part(sentence, gap) for sentence, gap in zip(found.sentences, behind, strict=True)]
    return [Part("", before), *parts] if before else parts


def _parts(text: str, cut: re.Pattern[str]) -> list[Part]:
    """Cut a text behind every match; the white space of the match is the gap."""
    parts, begin = [], 0
    for found in cut.finditer(text):
        gap = next((group for group in found.groups() if group), "")
        end = found.end() - len(gap)
        if begin < end and found.end() < len(text):
            parts.append(Part(text[begin:end], gap))
            begin = found.end()
    return [*parts, Part(text[begin:])]


def _within(part: Part, fits: Callable[[str], bool]) -> list[Part]:
    """Split a part further where it must be; its gap stays behind its last piece."""
    *before, last = split(part.text, fits)
    return [*before, Part(last.text, last.gap + part.gap)]
