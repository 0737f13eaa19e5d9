"""The units of translation memories and catalogues: a text in two or more languages, and which pairs it gives.

A language that is asked for stands for all its regional forms: `de` for de-AT too, `de-AT` for itself alone (basic
filtering of RFC 4647).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from manyheads.data.text.files import LONGEST_LINE
from manyheads.data.text.records import Pair
from manyheads.documents.placeholders import placeholders

MESSAGES = ""  # the language of a catalogue's messages, which it does not name
UNKNOWN_LANGUAGE = "und"  # as ISO 639 has it
_SPACE = re.compile(r"[ \t\r\n]+")

LeftOut = Literal["in other languages", "to be checked (fuzzy)", "not translated", "too long", "the same on both sides"]
"""Why a unit is left out, as a sentence says it."""


class Direction(NamedTuple):
    """The languages that are learned from and into, as they are asked for."""

    source: str
    target: str


class MemoryUnit(NamedTuple):
    """A text in several languages.

    Args:
        line: The line of the file, from 1.
        texts: Languages, as the file names them, and texts.
        source: The language that was translated from; empty if the file does not say it.
        is_unsure: The file marks the translation as one to check.
    """

    line: int
    texts: Sequence[tuple[str, str]]
    source: str = ""
    is_unsure: bool = False

    def named(self, direction: Direction) -> Sequence[tuple[str, str]]:
        """Return the texts; messages are in that language of the direction in which the translation is not."""
        if all(language != MESSAGES for language, _ in self.texts):
            return self.texts
        others = [language for language, _ in self.texts if language != MESSAGES]
        if any(is_form_of(language, direction.target) for language in others):
            messages = direction.source
        elif any(is_form_of(language, direction.source) for language in others):
            messages = direction.target
        else:
            return [(language, text) for language, text in self.texts if language != MESSAGES]
        return [(language or messages, text) for language, text in self.texts]

    def pairs(self, direction: Direction) -> Iterator[Pair | LeftOut]:
        """Yield the pair of each form of the target language, or why there is none."""
        texts = self.named(direction)
        if sum(len(text) for _, text in texts) > LONGEST_LINE:
            yield "too long"
            return
        source = next((text for language, text in texts if is_form_of(language, direction.source)), None)
        targets = [text for language, text in texts if is_form_of(language, direction.target)]
        if source is None or not targets:
            yield "in other languages"
            return
        for target in dict.fromkeys(targets):
            yield "to be checked (fuzzy)" if self.is_unsure and target.strip() else _pair(source, target)


@lru_cache(maxsize=1024)  # it is asked for every text of a memory
def is_form_of(language: str, asked: str) -> bool:
    """Return whether a language is the one that is asked for, or a regional form of it."""
    return f"{plain_code(language)}-".startswith(f"{plain_code(asked)}-")


def plain_code(language: str) -> str:
    """Return a language code in small letters with hyphens: `pt-br` for `pt_BR`."""
    return language.strip().replace("_", "-").replace("@", "-").lower()


def standing_alone(code: str) -> str:
    """Return what a code that stands between words is in a text to learn from: a placeholder, or a space."""
    return code if [one.text for one in placeholders(code)] == [code] else " "


def one_line(text: str) -> str:
    """Return a text on one line, without spaces around it."""
    return _SPACE.sub(" ", text).strip(" ")


def _pair(source: str, target: str) -> Pair | LeftOut:
    """Return two texts as a pair, or why they are none."""
    pair = Pair(one_line(source), one_line(target))
    if not (pair.source and pair.target):
        return "not translated"
    return "the same on both sides" if pair.source == pair.target else pair
