"""A bilingual lexicon: words and their translations, and the words of a pair that unambiguously translate each other.

The file has two columns, separated by a tab, with the language codes in the first line. `word_translations` learns a
lexicon from a parallel corpus; a user's own glossary has the same format.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from manyheads.data.text.files import read_lines
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U000323af]")
"""A character of a script without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
Place = tuple[int, int]
"""Begin and end of a word in a text."""


class Link(NamedTuple):
    """The places of two words that translate each other."""

    source: Place
    target: Place


@dataclass(frozen=True)
class Lexicon:
    """Translations of words, in lower case, by source word."""

    translations: dict[str, frozenset[str]]

    @classmethod
    def from_entries(cls, entries: Iterable[tuple[str, str]]) -> Lexicon:
        """Return a lexicon of (word, translation) entries."""
        translations: dict[str, set[str]] = defaultdict(set)
        for source, target in entries:
            translations[source.lower()].add(target.lower())
        return cls({word: frozenset(targets) for word, targets in translations.items()})

    @classmethod
    def read(cls, path: Path, *, source_language: str | None, target_language: str | None) -> Lexicon:
        """Read a file; the languages decide which of its columns is the source."""
        rows = [line.split("\t") for line in read_lines(path)]
        if not rows or any(len(row) < 2 for row in rows):
            number = next((number for number, row in enumerate(rows, start=1) if len(row) < 2), 1)
            raise ManyheadsError(
                "a line of a lexicon has a word, a tab and its translation.",
                where=f"{path}:{number}",
                cure="The first line has the codes of the two languages: en<tab>de",
            )
        codes = tuple(rows[0][:2])
        if codes == (source_language, target_language):
            return cls.from_entries((row[0], row[1]) for row in rows[1:])
        if codes == (target_language, source_language):
            return cls.from_entries((row[1], row[0]) for row in rows[1:])
        raise ManyheadsError(
            f"this lexicon is for {codes[0]} and {codes[1]}, but the corpus goes from {source_language} "
            f"to {target_language}.",
            where=f"{path}:1",
        )

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The source words in a fixed order, for random draws."""
        return tuple(sorted(self.translations))

    def links(self, pair: Pair) -> list[Link]:
        """Return the words that unambiguously translate each other, in the order of the source.

        Each of the two words occurs once on its side, and no other word of the pair could be its translation.
        """
        targets = _TargetText(pair.target)
        links = [
            Link(place, target)
            for word, place in _words_once(pair.source, self.translations)
            if (target := targets.single_place(self.translations[word])) is not None
        ]
        return sorted(
            link for link in links if not any(_overlap(link.target, other.target) for other in links if other != link)
        )


def words_of(text: str) -> list[tuple[str, Place]]:
    """Return the words of a text with spaces, in lower case, and their places."""
    return [(word[0].lower(), word.span()) for word in WORD.finditer(text)]


def _words_once(text: str, known: dict[str, frozenset[str]]) -> list[tuple[str, Place]]:
    """Return the words of the lexicon that occur once in a text, and their places."""
    if UNSPACED.search(text):
        words = _unspaced_words(text, known)
    else:
        words = [(word, place) for word, place in words_of(text) if word in known]
    counts = Counter(word for word, _ in words)
    return [(word, place) for word, place in words if counts[word] == 1]


def _unspaced_words(text: str, known: dict[str, frozenset[str]]) -> list[tuple[str, Place]]:
    """Return the longest words of the lexicon, from left to right, in a text without spaces."""
    lower, words, start = text.lower(), [], 0
    while start < len(text):
        end = next((end for end in range(min(len(text), start + 8), start + 1, -1) if lower[start:end] in known), 0)
        if end:
            words.append((lower[start:end], (start, end)))
        start = end or start + 1
    return words


class _TargetText:
    """A target text with an index of its words."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        self._words: dict[str, list[Place]] = defaultdict(list)
        if not UNSPACED.search(text):
            for word, place in words_of(text):
                self._words[word].append(place)

    def single_place(self, candidates: Iterable[str]) -> Place | None:
        """Return the place of the candidate in the text, if only one candidate occurs, and only once."""
        places = [place for word in candidates for place in self._places(word)]
        return places[0] if len(places) == 1 else None

    def _places(self, word: str) -> Sequence[Place]:
        """Return every place of a word."""
        if not UNSPACED.search(word):
            return self._words.get(word, ())
        return [match.span() for match in re.finditer(re.escape(word), self._text)]


def _overlap(first: Place, second: Place) -> bool:
    """Return whether two places share a character."""
    return first[0] < second[1] and second[0] < first[1]
