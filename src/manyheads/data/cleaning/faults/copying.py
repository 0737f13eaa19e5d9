"""Detects sides that were not translated: equal, nearly equal, or with a long run of words in common."""

from __future__ import annotations

import re

FEWEST_WORDS = 3  # shorter texts, such as names, are often rightly the same in two languages
SENTENCE = 5  # words; shorter texts may rightly differ in nothing but punctuation (`GS1-Barcodes`)
RUN = 6  # consecutive words in lower case: a phrase, not a name
_WORD = re.compile(r"[^\W\d_]+")
_LOWER_RUN = re.compile(rf"(?<![\w.])[a-zà-öø-ÿ'’]+(?: [a-zà-öø-ÿ'’]+){{{RUN - 1},}}(?!\w)")


def copied(source: str, target: str) -> bool:
    """Return whether both sides are the same."""
    return source == target and len(source.split()) >= FEWEST_WORDS


def untranslated(source: str, target: str) -> bool:
    """Return whether the sides have the same words, or share a long run of words that are not names."""
    if source == target:
        return False
    return bool(_runs(source) & _runs(target)) or _same_words(source, target)


def _same_words(source: str, target: str) -> bool:
    """Return whether both sides have the same words in the same order, and enough of them for a sentence."""
    words = _WORD.findall(source.casefold())
    return len(words) >= SENTENCE and words == _WORD.findall(target.casefold())


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of `RUN` words in lower case."""
    runs: set[tuple[str, ...]] = set()
    for match in _LOWER_RUN.finditer(text):
        words = match.group().split(" ")
        runs.update(tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))
    return runs
