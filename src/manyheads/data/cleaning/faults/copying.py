"""Sides that were not translated: the same on both, nearly the same, or with a long run of the source in them."""

from __future__ import annotations

import re

WORTH_COPYING = 3  # words; shorter texts, such as names, are often rightly the same in two languages
SENTENCE = 5  # words; shorter texts may well differ in nothing but their punctuation (`GS1-Barcodes`)
RUN = 6  # words in small letters, one after the other, are a phrase and no name
_WORD = re.compile(r"[^\W\d_]+")
_LOWER_RUN = re.compile(rf"(?<![\w.])[a-zà-öø-ÿ'’]+(?: [a-zà-öø-ÿ'’]+){{{RUN - 1},}}(?!\w)")


def copied(source: str, target: str) -> bool:
    """Whether both sides are the same."""
    return source == target and len(source.split()) >= WORTH_COPYING


def untranslated(source: str, target: str) -> bool:
    """Whether the sides have the same words, or share a long run of words that are no names."""
    if source == target:
        return False
    return bool(_runs(source) & _runs(target)) or _same_words(source, target)


def _same_words(source: str, target: str) -> bool:
    """Whether both sides have the words of a sentence in common, in the same order."""
    ours = _WORD.findall(source.casefold())
    return len(ours) >= SENTENCE and ours == _WORD.findall(target.casefold())


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of `RUN` words in small letters."""
    found: set[tuple[str, ...]] = set()
    for match in _LOWER_RUN.finditer(text):
        words = match.group().split(" ")
        found.update(tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))
    return found
