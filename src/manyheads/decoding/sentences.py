"""Text into sentences and back: a model translates sentences, and everything between them stays as it is.

A line break or a tab always ends a sentence. Within a line, a sentence ends at `.`, `!`, `?` or `…` (with the quotation
marks and brackets that close behind it) before white space and anything but a lower-case letter, unless the full stop
belongs to an abbreviation, an initial, or a number of one or two digits ("15. November"). At `。`, `！` and `？` it
ends in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from manyheads.errors import ManyheadsError

_LINE = re.compile(r"[^\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Marks are looked at once, from their first: ten thousand full stops in a row must not cost the square of that.
_END = re.compile(r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）\"')\]]*")
_LAST_WORD = re.compile(r"[^\s(\[\"'«“„‘]+$")
_CUT = re.compile(r"\s+|(?<=[,;:、，；：])")

# Words before a full stop that does not end a sentence, without their own inner full stops and in lower case.
_ABBREVIATIONS = {
    "en": "mr mrs ms dr prof rev gen col capt lt sgt st jr sr vs no vol fig eq ch sec ed eds pp cf eg ie approx dept "
    "est inc ltd jan feb apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat",
    "de": "hr fr frl bzw zb dh ua uä usw vgl ca nr bd abb art evtl ggf inkl zzgl mio mrd tel str",
    "fr": "mme mlle mm env av chap",
    "es, pt, it": "sra srta ud uds pág núm sig sigg dott ing avv",
    "nl": "dhr mevr bijv enz blz",
    "ru": "г гг ул стр им",
}
_ABBREVIATED = frozenset(word for words in _ABBREVIATIONS.values() for word in words.split())


@dataclass(frozen=True)
class Outline:
    """A text taken apart: its sentences, and what stands before, between and behind them (one more)."""

    sentences: list[str]
    gaps: list[str]

    def fill(self, translations: Sequence[str]) -> str:
        """Return the text with a translation in the place of each sentence."""
        parts = [self.gaps[0]]
        for translation, gap in zip(translations, self.gaps[1:], strict=True):
            parts += [translation, gap]
        return "".join(parts)


def outline(text: str, *, longest: int) -> Outline:
    """Take a text apart into sentences of at most so many characters."""
    sentences, gaps, end = [], [], 0
    for start, stop in _spans(text, longest):
        gaps.append(text[end:start])
        sentences.append(text[start:stop])
        end = stop
    return Outline(sentences, [*gaps, text[end:]])


def _spans(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence starts and stops, without the white space around it."""
    for line in _LINE.finditer(text):
        start = line.start()
        for stop in [*_stops(text, line.start(), line.end()), line.end()]:
            yield from _cut(text, *_stripped(text, start, stop), longest)
            start = stop


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the places within a line at which sentences end."""
    for found in _END.finditer(text, start, end):
        mark = found["mark"]
        if mark is None:
            yield found.end()
            continue
        following = _next_letter(text, found.end(), end)
        if following.islower() or (
            mark == "." and _is_abbreviation(text[max(start, found.start() - 40) : found.start()])
        ):
            continue
        yield found.end()


def _next_letter(text: str, start: int, end: int) -> str:
    """Return the first character that is no white space, or nothing."""
    while start < end and text[start].isspace():
        start += 1
    return text[start] if start < end else ""


def _is_abbreviation(before: str) -> bool:
    """Whether the full stop behind this text belongs to its last word."""
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found[0].replace(".", "").lower()
    return word in _ABBREVIATED or (len(word) == 1 and word.isalpha()) or (len(word) <= 2 and word.isdecimal())


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return a span without the white space at its ends."""
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def _cut(text: str, start: int, stop: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, in pieces where it is too long; an empty one not at all."""
    while stop - start > longest:
        places = [found for found in _CUT.finditer(text, start + 1, start + longest + 1) if found.start() > start]
        if not places:
            raise ManyheadsError(f"Invalid request: a word of more than {longest} characters cannot be translated.")
        yield _stripped(text, start, places[-1].start())
        start, stop = _stripped(text, places[-1].end(), stop)
    if start < stop:
        yield start, stop
