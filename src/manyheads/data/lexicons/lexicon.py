"""A lexicon of two languages: words and their translations, and which words of a pair translate each other for certain.

The file has two columns, separated by a tab, with the languages' codes in the first line. `learning` (see
`word_translations`) makes one of a parallel corpus; a glossary of one's own has the same form.
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
"""A character of a script that has no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class Link(NamedTuple):
    """Where two words stand that translate each other: begin and end in the source, begin and end in the target."""

    source: tuple[int, int]
    target: tuple[int, int]


@dataclass(frozen=True)
class Lexicon:
    """Translations of words, in lower case, by source word."""

    translations: dict[str, frozenset[str]]

    @classmethod
    def of(cls, entries: Iterable[tuple[str, str]]) -> Lexicon:
        """Return the lexicon of some words and their translations."""
        gathered: dict[str, set[str]] = defaultdict(set)
        for source, target in entries:
            gathered[source.lower()].add(target.lower())
        return cls({word: frozenset(found) for word, found in gathered.items()})

    @classmethod
    def read(cls, path: Path, *, source_language: str | None, target_language: str | None) -> Lexicon:
        """Read a file; the languages say which of its columns is the source."""
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
            return cls.of((row[0], row[1]) for row in rows[1:])
        if codes == (target_language, source_language):
            return cls.of((row[1], row[0]) for row in rows[1:])
        raise ManyheadsError(
            f"this lexicon is for {codes[0]} and {codes[1]}, but the corpus goes from {source_language} "
            f"to {target_language}.",
            where=f"{path}:1",
        )

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The source words in a fixed order, to draw from."""
        return tuple(sorted(self.translations))

    def links(self, pair: Pair) -> list[Link]:
        """Return the words that translate each other beyond doubt, in the order of the source.

        Each of the two occurs once on its side, and no other word of the pair could be meant.
        """
        sources, targets = _places(pair.source, self.translations), _Text(pair.target)
        found = [
            Link(place, there)
            for word, place in sources
            if (there := targets.only(self.translations[word])) is not None
        ]
        apart = [one for one in found if not any(_overlap(one.target, other.target) for other in found if other != one)]
        return sorted(apart)


def words_of(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the words of a text with spaces, in lower case, and where they stand."""
    return [(word[0].lower(), word.span()) for word in WORD.finditer(text)]


def _places(text: str, known: dict[str, frozenset[str]]) -> list[tuple[str, tuple[int, int]]]:
    """Return the words of the lexicon that occur once in a text, and where."""
    if UNSPACED.search(text):
        found = _unspaced(text, known)
    else:
        found = [(word, place) for word, place in words_of(text) if word in known]
    counts = Counter(word for word, _ in found)
    return [(word, place) for word, place in found if counts[word] == 1]


def _unspaced(text: str, known: dict[str, frozenset[str]]) -> list[tuple[str, tuple[int, int]]]:
    """Return the longest words of the lexicon from left to right in a text without spaces."""
    lower, found, start = text.lower(), [], 0
    while start < len(text):
        end = next((end for end in range(min(len(text), start + 8), start + 1, -1) if lower[start:end] in known), 0)
        if end:
            found.append((lower[start:end], (start, end)))
        start = end or start + 1
    return found


class _Text:
    """A target text that is asked for words."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        self._words: dict[str, list[tuple[int, int]]] = defaultdict(list)
        if not UNSPACED.search(text):
            for word, place in words_of(text):
                self._words[word].append(place)

    def only(self, candidates: Iterable[str]) -> tuple[int, int] | None:
        """Return where the one candidate stands that the text has, if it has one alone and once."""
        found = [place for word in candidates for place in self._all(word)]
        return found[0] if len(found) == 1 else None

    def _all(self, word: str) -> Sequence[tuple[int, int]]:
        """Return every place where a word stands."""
        if not UNSPACED.search(word):
            return self._words.get(word, ())
        return [(one.start(), one.end()) for one in re.finditer(re.escape(word), self._text)]


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two places share a character."""
    return one[0] < other[1] and other[0] < one[1]
