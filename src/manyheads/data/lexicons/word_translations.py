"""Translation probabilities of tokens by IBM Model 1 (Brown et al. 1993), learned by expectation maximisation of

    P(t | s_1 … s_n) = 1/n · Σ_i p(t | s_i)

and a lexicon of the words that are probable translations of each other in both directions.
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
PIECES = 12_000  # vocabulary of subwords that replace words in a script without spaces
SENTENCES = 100_000  # from which these subwords are learned
PROBABLE = 0.15  # the least probability of a translation, in both directions, for the lexicon
FEWEST = 4  # the least number of occurrences of a word
COMMON = 0.02  # occurrences per sentence; words above it are function words, which are left out

Ids = NDArray[np.int64]


class Translations(NamedTuple):
    """Pairs of source and target ids that occur together [P], with p(t | s); and the counts of each target id."""

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
    """Return every combination of source and target id in a pair [M], and the number of its target occurrence [M]."""
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
    """Return p(t | s) for each pair of ids [P]; `which` [M] is the index of each combination's pair of ids."""
    probabilities = np.ones(len(sources))
    for _ in range(ROUNDS):
        shares = probabilities[which]
        shares /= np.bincount(occurrences, weights=shares)[occurrences]
        counts = np.bincount(which, weights=shares, minlength=len(sources))
        probabilities = counts / np.bincount(sources, weights=counts)[sources]
    return probabilities


# --- The lexicon -----------------------------------------------------------------------------------------------------


def learn_lexicon(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the words, in lower case, that are probable translations of each other in both directions."""
    sides = [_Vocabulary([pair[side] for pair in pairs]) for side in (0, 1)]
    rows = [list(map(side.ids, (pair[number] for pair in pairs))) for number, side in enumerate(sides)]
    ids = list(zip(*rows, strict=True))
    forward = learn_translations(ids, vocabularies=(len(sides[0]), len(sides[1])))
    backward = learn_translations([(b, a) for a, b in ids], vocabularies=(len(sides[1]), len(sides[0])))
    backward_probabilities = dict(_probable(backward, backward.targets, backward.sources))
    entries = [
        (sides[0].words[source], sides[1].words[target], probability * backward_probabilities[source, target])
        for (source, target), probability in _probable(forward, forward.sources, forward.targets)
        if (source, target) in backward_probabilities
    ]
    entries.sort(key=lambda entry: (entry[0], -entry[2], entry[1]))
    common = [side.common(len(pairs)) for side in sides]
    return [
        (source, target)
        for source, target, _ in entries
        if _is_word(source) and _is_word(target) and source not in common[0] and target not in common[1]
    ]


def _probable(learned: Translations, first: Ids, second: Ids) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the probable pairs of ids with their probabilities; `first` and `second` are the columns of a pair."""
    probable = learned.probabilities >= PROBABLE
    pairs = zip(first[probable].tolist(), second[probable].tolist(), strict=True)
    return zip(pairs, learned.probabilities[probable].tolist(), strict=True)


def _is_word(word: str) -> bool:
    """Return whether a word has at least two characters; a single one is too often a part of another word."""
    return len(word) > 1


class _Vocabulary:
    """The words of texts, with an id for each frequent word."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._split = _word_splitter(texts)
        self._counts = Counter(itertools.chain.from_iterable(map(self._split, texts)))
        self.words = [word for word, count in sorted(self._counts.items()) if count >= FEWEST]
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def common(self, sentences: int) -> frozenset[str]:
        """Return the words that are too frequent for a lexicon: articles, pronouns, prepositions."""
        return frozenset(word for word, count in self._counts.items() if count > COMMON * sentences)

    def ids(self, text: str) -> list[int]:
        """Return the ids of the words of a text, without rare words."""
        return [self._numbers[word] for word in self._split(text) if word in self._numbers]


def _word_splitter(texts: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that splits texts into lower-case words, or into subwords if the script has no spaces."""
    unspaced = sum(bool(UNSPACED.search(text)) for text in texts[:SENTENCES])
    if 2 * unspaced < len(texts[:SENTENCES]):
        return lambda text: [word for word, _ in words_of(text)]
    settings = TokenizerSettings(kind="unigram", normalization="identity")
    tokenizer = train_tokenizer(texts[:SENTENCES], settings, kind="unigram", vocabulary=PIECES)

    def pieces(text: str) -> list[str]:
        """Return the subwords of a text that have a letter."""
        split = (piece.removeprefix(SPACE).lower() for piece in tokenizer.pieces(tokenizer.encode(text)))
        return [piece for piece in split if any(map(str.isalpha, piece))]

    return pieces
