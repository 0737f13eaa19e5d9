"""What a corpus looks like, in numbers: how much of it there is, and what each side is made of.

From these a recipe is chosen (`defaults`): sentences are cut into subwords, words into their letters, and rows of
symbols from a small set, such as phonemes, into these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from manyheads.config.corpora import CorpusSettings, TokenizerKind
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.data.text.corpora import open_corpus
from manyheads.metrics.segmentation import SAMPLE, segmentation

ENOUGH_WORDS = 100_000  # distinct words to count, since every vocabulary is smaller
MOST_LABELS, TIMES_A_LABEL = 100, 10  # targets are labels if at most 100 differ and each occurs 10 times on average
MOST_SYMBOLS, TIMES_A_SYMBOL = 2_000, 50  # likewise for words: a language has more of them, many of which occur once
RARE_SYMBOLS = 0.02  # share of the symbols that may occur once
WORDS_PER_TEXT = 1.5  # on average, of a side whose texts are single words
WORD_CHARACTERS = 20  # on average, of such a text; a longer one is a sentence in a script without spaces


@dataclass
class SideStatistics:
    """One side of a corpus: sums over its texts, and its distinct words as far as they were counted."""

    characters: int = 0
    words: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a text."""
        words = text.split()
        self.characters += len(text)
        self.words += len(words)
        if len(self.counts) < ENOUGH_WORDS:
            self.counts.update(words)
        if len(self.sample) < SAMPLE:
            self.sample.append(text)

    def kind(self, texts: int) -> TokenizerKind:
        """Return the tokenizer that suits a side of a number of texts: subwords, characters or symbols."""
        distinct = len(self.counts)
        once = sum(count == 1 for count in self.counts.values())
        if distinct <= MOST_SYMBOLS and self.words >= TIMES_A_SYMBOL * distinct and once <= RARE_SYMBOLS * distinct:
            return "symbols"
        spaced = segmentation(None, self.sample).spaced
        if spaced and self.words <= WORDS_PER_TEXT * texts and self.characters <= WORD_CHARACTERS * texts:
            return "characters"
        return "bpe"


@dataclass
class CorpusStatistics:
    """All corpora of a recipe together."""

    pairs: int = 0
    first: int = 0  # pairs of the first corpus
    source: SideStatistics = field(default_factory=SideStatistics)
    target: SideStatistics = field(default_factory=SideStatistics)
    labels: set[str] = field(default_factory=set)  # distinct targets, as far as they were counted

    @property
    def characters(self) -> int:
        """Characters of the longer side."""
        return max(self.source.characters, self.target.characters)

    @property
    def words(self) -> int:
        """Distinct words of both sides, as far as they were counted."""
        return len(self.source.counts | self.target.counts)

    @property
    def has_labels(self) -> bool:
        """Whether the targets are a few labels."""
        return len(self.labels) <= MOST_LABELS and TIMES_A_LABEL * len(self.labels) <= self.pairs

    @property
    def kinds(self) -> tuple[TokenizerKind, TokenizerKind]:
        """The tokenizers that suit source and target."""
        single = self.has_labels and self.target.words <= self.pairs
        return self.source.kind(self.pairs), "symbols" if single else self.target.kind(self.pairs)


def corpus_statistics(corpora: Sequence[CorpusSettings], look: FirstLook | None = None) -> CorpusStatistics:
    """Read the corpora once and count; `look` sees the pairs."""
    found = CorpusStatistics()
    for number, settings in enumerate(corpora):
        pairs = open_corpus(settings, split="train").pairs()
        for pair in pairs if look is None else look.through(settings, pairs):
            found.pairs += 1
            found.first += number == 0
            found.source.add(pair.source)
            found.target.add(pair.target)
            if len(found.labels) <= MOST_LABELS:
                found.labels.add(pair.target)
    return found
