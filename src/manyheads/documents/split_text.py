"""A text split into sentences, and joined again from their translations; everything between sentences is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from manyheads.documents.spacing import gap_between, is_cased

Span = tuple[int, int]
"""Start and stop of a part of a text."""


@dataclass(frozen=True)
class SplitText:
    """A text split into sentences, and the gaps before, between and after them (one more than sentences)."""

    sentences: list[str]
    gaps: list[str]

    @classmethod
    def from_spans(cls, text: str, spans: Iterable[Span]) -> SplitText:
        """Return a text split at these spans, which must leave out nothing but white space."""
        sentences, gaps, end = [], [], 0
        for start, stop in spans:
            gaps.append(text[end:start])
            sentences.append(text[start:stop])
            end = stop
        return cls(sentences, [*gaps, text[end:]])

    def split_further(self, split: Callable[[str], SplitText]) -> SplitText:
        """Return the same text with each sentence split by a function."""
        sentences: list[str] = []
        gaps = self.gaps[:1]
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            inner = split(sentence)
            sentences += inner.sentences
            gaps[-1] += inner.gaps[0]
            gaps += inner.gaps[1:]
            gaps[-1] += gap
        return SplitText(sentences, gaps)

    def fill(self, translations: Sequence[str], language: str | None = None) -> str:
        """Return the text with each sentence replaced by its translation, and the spacing of the target language."""
        gaps = self.translated_gaps(translations, language)
        return "".join(part for pair in zip(gaps, [*translations, ""], strict=True) for part in pair)

    def translated_gaps(self, translations: Sequence[str], language: str | None) -> list[str]:
        """Return the gaps with the spacing of the target language."""
        first, *others = self.gaps
        if not others:
            return [first]
        *between, last = others
        inner = [
            gap_between(gap, translations[i], translations[i + 1], language, begins_word=_begins_word(self, i + 1))
            for i, gap in enumerate(between)
        ]
        return [first, *inner, last]


def _begins_word(text: SplitText, number: int) -> bool:
    """Return whether a part begins with a word, not in the middle of a word that was too long."""
    before, after = text.sentences[number - 1][-1:], text.sentences[number][:1]
    return not (is_cased(before) and is_cased(after) and not text.gaps[number])
