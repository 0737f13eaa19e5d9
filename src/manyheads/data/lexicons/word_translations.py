"""Which token translates which: IBM Model 1 (Brown et al. 1993), by expectation maximisation of

    P(t | s_1 … s_n) = 1/n · Σ_i p(t | s_i)

and a lexicon of the words that translate each other in both directions.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.config.corpora import TokenizerSettings
from manyheads.data.lexicons.lexicon import UNSPACED, words_of
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import SPACE, train_tokenizer
from manyheads.errors import ManyheadsError

ROUNDS = 4
PIECES = 12_000  # that a text without spaces is cut into, in the place of words
SENTENCES = 100_000  # that these pieces are learned from
SURE = 0.15  # the least probability of a translation, in both directions, for the lexicon
SEEN = 4  # how often a word must occur
COMMON = 0.02  # times a sentence: what occurs more often says little

Ids = NDArray[np.int64]


class Translations(NamedTuple):
    """Couples of source and target ids that occur together [P], with p(t | s); and how often each id occurs."""

    sources: Ids
    targets: Ids
    probabilities: NDArray[np.float64]
    target_counts: Ids


def learn_translations(
    pairs: Iterable[tuple[Sequence[int], Sequence[int]]], *, vocabularies: tuple[int, int]
) -> Translations:
    """Learn p(t | s) from pairs of source and target ids."""
    sources, targets, occurrences = _occurrences(pairs)
    keys, which = np.unique(sources * vocabularies[1] + targets, return_inverse=True)
    probabilities = _probabilities(keys // vocabularies[1], which, occurrences)
    _, first = np.unique(occurrences, return_index=True)
    counts = np.bincount(targets[first], minlength=vocabularies[1])
    return Translations(keys // vocabularies[1], keys % vocabularies[1], probabilities, counts)


def _occurrences(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> tuple[Ids, Ids, Ids]:
    """Return every source id beside every target id of its pair [M], and which target occurrence that is [M]."""
    sources, targets, occurrences, count = [], [], [], 0
    for source, target in pairs:
        sources.append(np.tile(np.asarray(source, dtype=np.int64), len(target)))
        targets.append(np.repeat(np.asarray(target, dtype=np.int64), len(source)))
        occurrences.append(np.repeat(np.arange(count, count + len(target)), len(source)))
        count += len(target)
    if not sources:
        raise ManyheadsError("there are no pairs to learn translations of words from.")
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(occurrences)


def _probabilities(sources: Ids, which: Ids, occurrences: Ids) -> NDArray[np.float64]:
    """Return p(t | s) for each couple [P] of ids; `which` [M] says which couple each occurrence is."""
    likely = np.ones(len(sources))
    for _ in range(ROUNDS):
        shares = likely[which]
        shares /= np.bincount(occurrences, weights=shares)[occurrences]
        counts = np.bincount(which, weights=shares, minlength=len(sources))
        likely = counts / np.bincount(sources, weights=counts)[sources]
    return likely


# --- The lexicon -----------------------------------------------------------------------------------------------------


def learn_lexicon(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the words, in lower case, that are probable translations of each other in both directions."""
    sides = [_Vocabulary([pair[side] for pair in pairs]) for side in (0, 1)]
    rows = [list(map(side.ids, (pair[number] for pair in pairs))) for number, side in enumerate(sides)]
    both = list(zip(*rows, strict=True))
    there = learn_translations(both, vocabularies=(len(sides[0]), len(sides[1])))
    back = learn_translations([(b, a) for a, b in both], vocabularies=(len(sides[1]), len(sides[0])))
    likely_back = dict(_sure(back, back.targets, back.sources))
    couples = [
        (sides[0].words[source], sides[1].words[target], probability * likely_back[source, target])
        for (source, target), probability in _sure(there, there.sources, there.targets)
        if (source, target) in likely_back
    ]
    couples.sort(key=lambda couple: (couple[0], -couple[2], couple[1]))
    common = [side.common(len(pairs)) for side in sides]
    return [
        (source, target)
        for source, target, _ in couples
        if _is_word(source) and _is_word(target) and source not in common[0] and target not in common[1]
    ]


def _sure(found: Translations, sources: Ids, targets: Ids) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the couples, in the order of the two given columns, that are probable enough."""
    sure = found.probabilities >= SURE
    couples = zip(sources[sure].tolist(), targets[sure].tolist(), strict=True)
    return zip(couples, found.probabilities[sure].tolist(), strict=True)


def _is_word(word: str) -> bool:
    """Whether a word has two characters at least; one alone is too often a part of another."""
    return len(word) > 1


class _Vocabulary:
    """The words of texts, numbered."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._cut = _cutter(texts)
        self._counts = Counter(itertools.chain.from_iterable(map(self._cut, texts)))
        self.words = [word for word, count in sorted(self._counts.items()) if count >= SEEN]
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def common(self, sentences: int) -> frozenset[str]:
        """Return the words that are too common to say anything: articles, pronouns, prepositions."""
        return frozenset(word for word, count in self._counts.items() if count > COMMON * sentences)

    def ids(self, text: str) -> list[int]:
        """Return the numbers of the words of a text; rare ones have none."""
        return [self._numbers[word] for word in self._cut(text) if word in self._numbers]


def _cutter(texts: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what cuts texts into words in lower case: at spaces, or into pieces where the script has none."""
    unspaced = sum(bool(UNSPACED.search(text)) for text in texts[:SENTENCES])
    if 2 * unspaced < len(texts[:SENTENCES]):
        return lambda text: [word for word, _ in words_of(text)]
    settings = TokenizerSettings(kind="unigram", normalization="identity")
    tokenizer = train_tokenizer(texts[:SENTENCES], settings, kind="unigram", vocabulary=PIECES)

    def pieces(text: str) -> list[str]:
        """Return the pieces of a text that hold a letter."""
        cut = (piece.removeprefix(SPACE).lower() for piece in tokenizer.pieces(tokenizer.encode(text)))
        return [piece for piece in cut if any(map(str.isalpha, piece))]

    return pieces
