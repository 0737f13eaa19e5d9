"""Divides corpora into training, validation and test data without common sentences.

Collections such as Tatoeba have one sentence with many translations, and the same English sentence with German, French
and Chinese ones. If such a corpus were divided by line, a model would be tested on sentences that it was trained on. So
it is divided by sentence, on both sides and over all languages and corpora together: no sentence of the test or
validation data, in any language, occurs in the training data of any pair of languages, not even with other capitals or
punctuation.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from manyheads.config.corpora import CorpusSettings
from manyheads.config.cut import CleaningSettings, CutCorpusSettings, CutSettings
from manyheads.data.cleaning.checking import KINDS, Checker, Limits
from manyheads.data.cleaning.faults.balance import usual_ratio
from manyheads.data.cleaning.faults.repetition import Repetitions
from manyheads.data.text.chinese import simplified
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.documents.placeholders import placeholders, same_placeholders
from manyheads.errors import ManyheadsError

REASONS = (*KINDS, "kept_out", "shared")
"""Why a pair is in no part: a fault, or a sentence in common with `keep_out` or with held-out pairs."""
Languages = tuple[str, str]
"""The source and the target language."""
Keys = tuple[bytes, bytes]
"""The keys of the two sentences of a pair; equal sentences have equal keys."""
Sentences = dict[str, set[bytes]]
"""The keys of sentences, by language."""


@dataclass(frozen=True)
class HeldOutCounts:
    """The numbers of pairs to hold out."""

    test: int
    valid: int
    placeholders: int = 0


@dataclass
class Parts:
    """The parts of a corpus. `placeholders` is additional test data, of pairs with placeholders."""

    train: list[Pair] = field(default_factory=list)
    valid: list[Pair] = field(default_factory=list)
    test: list[Pair] = field(default_factory=list)
    placeholders: list[Pair] = field(default_factory=list)


@dataclass
class CorpusCut:
    """The division of one corpus: its pairs, its parts, and the reasons why pairs are in no part."""

    name: str | None
    languages: Languages
    held_out: HeldOutCounts
    pairs: list[Pair]
    parts: Parts = field(default_factory=Parts)
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """The number of pairs in no part, by reason; a pair may have several reasons."""

    @property
    def label(self) -> str:
        """The name and the languages, as used in file names."""
        return ".".join(filter(None, (self.name, "-".join(self.languages))))

    def report(self) -> dict[str, Any]:
        """Return the numbers of pairs that were read, that are in each part, and that are in no part."""
        return {
            "name": self.name,
            "languages": self.languages,
            "read": self.read,
            "parts": {part: len(pairs) for part, pairs in vars(self.parts).items()},
            "dropped": {kind: self.dropped[kind] for kind in REASONS if self.dropped[kind]},
        }


def cut_corpora(settings: CutSettings, *, progress: Callable[[str], None] = lambda _: None) -> list[CorpusCut]:
    """Read the corpora of a cut, clean them if the settings say so, and divide them.

    `progress` is called with the name and the languages of each corpus before it is read.
    """
    cuts = []
    for together in settings.together():
        progress(" ".join(filter(None, (together[0].name, *_languages(together[0])))))
        corpus = _read_together(together, settings)
        if settings.clean:
            corpus.pairs = list(_without_faults(corpus, settings.clean))
        cuts.append(corpus)
    cut(cuts, keep_out=_kept_out(settings), shortest=settings.shortest)
    if settings.clean:
        _drop_repetitions(cuts)
    return cuts


def cut(cuts: Sequence[CorpusCut], *, keep_out: Sentences | None = None, shortest: int = 1) -> None:
    """Fill the parts of each corpus. Which pairs are held out depends only on the texts."""
    keys = [[_keys(pair) for pair in corpus.pairs] for corpus in cuts]
    excluded: Sentences = {language: set(sentences) for language, sentences in (keep_out or {}).items()}
    for corpus, corpus_keys in zip(cuts, keys, strict=True):
        _keep_out(corpus, corpus_keys, excluded)
        _hold_out(corpus, corpus_keys, shortest)
    for corpus in cuts:
        parts = corpus.parts
        add_sentences(excluded, corpus.languages, (*parts.valid, *parts.test, *parts.placeholders))
    for corpus, corpus_keys in zip(cuts, keys, strict=True):
        corpus.parts.train = [corpus.pairs[index] for index in _without(corpus, corpus_keys, excluded)]
        corpus.dropped["shared"] = len(corpus.pairs) - sum(map(len, vars(corpus.parts).values()))


def sentence_key(text: str) -> str:
    """Return a key that is equal for sentences that differ only in capitals, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def add_sentences(sentences: Sentences, languages: Languages, pairs: Iterable[Pair]) -> None:
    """Add both sides of each pair to the sentences of their languages."""
    for pair in pairs:
        for language, key in zip(languages, _keys(pair), strict=True):
            sentences.setdefault(language, set()).add(key)


def _read_together(together: Sequence[CutCorpusSettings], settings: CutSettings) -> CorpusCut:
    """Read corpora that are cut together, without duplicates and pairs with an empty side."""
    first = together[0]
    held_out = HeldOutCounts(
        test=settings.test if first.test is None else first.test,
        valid=settings.valid if first.valid is None else first.valid,
        placeholders=first.placeholders,
    )
    read = [pair for corpus in together for pair in _read(corpus, settings.simplified)]
    filled = [pair for pair in read if pair.source and pair.target]
    pairs = list(dict.fromkeys(filled))
    dropped = Counter(empty=len(read) - len(filled), duplicated=len(filled) - len(pairs))
    return CorpusCut(first.name, _languages(first), held_out, pairs, read=len(read), dropped=dropped)


def _read(corpus: CorpusSettings, simplified_languages: Iterable[str]) -> Iterator[Pair]:
    """Yield the stripped pairs of a corpus; sides in `simplified_languages` in simplified Chinese characters."""
    source, target = (simplified if code in simplified_languages else str for code in _languages(corpus))
    for pair in open_corpus(corpus, split="train").pairs():
        yield Pair(source(pair.source.strip()), target(pair.target.strip()))


def _languages(corpus: CorpusSettings) -> Languages:
    """Return the two languages of a corpus, which the settings of a cut require."""
    assert corpus.source_language is not None and corpus.target_language is not None
    return corpus.source_language, corpus.target_language


def _kept_out(settings: CutSettings) -> Sentences:
    """Return the sentences that must not be in any part."""
    sentences: Sentences = {}
    for corpus in settings.keep_out:
        add_sentences(sentences, _languages(corpus), _read(corpus, settings.simplified))
    return sentences


def _without_faults(corpus: CorpusCut, limits: CleaningSettings) -> Iterator[Pair]:
    """Yield the pairs without faults, and count the faults of the others; repetitions are not checked here."""
    source, target = corpus.languages
    checker = Checker(
        Limits(limits.characters, limits.ratio),
        usual_ratio=usual_ratio(corpus.pairs),
        source_language=source,
        target_language=target,
    )
    for pair in corpus.pairs:
        faults = checker.faults(pair)
        corpus.dropped.update(faults)
        if not faults:
            yield pair


def _drop_repetitions(cuts: Iterable[CorpusCut]) -> None:
    """Keep only the first of nearly equal training pairs of two languages, over all corpora."""
    seen: dict[Languages, Repetitions] = defaultdict(Repetitions)
    for corpus in cuts:
        kept = []
        for pair in corpus.parts.train:
            fault = seen[corpus.languages].fault(pair)
            if fault is None:
                kept.append(pair)
            else:
                corpus.dropped[fault] += 1
        corpus.parts.train = kept


def _keep_out(corpus: CorpusCut, keys: list[Keys], sentences: Sentences) -> None:
    """Remove the pairs, and their keys, that have one of these sentences."""
    kept = _without(corpus, keys, sentences)
    corpus.dropped["kept_out"] = len(corpus.pairs) - len(kept)
    corpus.pairs[:] = [corpus.pairs[index] for index in kept]
    keys[:] = [keys[index] for index in kept]


def _without(corpus: CorpusCut, keys: Sequence[Keys], sentences: Sentences) -> list[int]:
    """Return the indices of the pairs that have none of these sentences."""
    sources, targets = (sentences.get(language) or set() for language in corpus.languages)
    return [i for i, (source, target) in enumerate(keys) if source not in sources and target not in targets]


def _hold_out(corpus: CorpusCut, keys: Sequence[Keys], shortest: int) -> None:
    """Hold out pairs in the order of their keys, each with two sentences that were not chosen before."""
    counts = corpus.held_out
    sources: set[bytes] = set()
    targets: set[bytes] = set()
    chosen: list[Pair] = []
    with_placeholders: list[Pair] = []
    for index in sorted(range(len(keys)), key=keys.__getitem__):
        if len(chosen) == counts.test + counts.valid and len(with_placeholders) == counts.placeholders:
            break
        pair, (source, target) = corpus.pairs[index], keys[index]
        if source in sources or target in targets or len(pair.source.split()) < shortest:
            continue
        if len(chosen) < counts.test + counts.valid:
            chosen.append(pair)
        elif _has_placeholders(pair):
            with_placeholders.append(pair)
        else:
            continue
        sources.add(source)
        targets.add(target)
    _check_enough(corpus, chosen, with_placeholders)
    corpus.parts.test, corpus.parts.valid = chosen[: counts.test], chosen[counts.test :]
    corpus.parts.placeholders = with_placeholders


def _has_placeholders(pair: Pair) -> bool:
    """Return whether there are placeholders, the same on both sides."""
    return bool(placeholders(pair.source)) and same_placeholders(pair.source, pair.target)


def _check_enough(corpus: CorpusCut, chosen: Sequence[Pair], with_placeholders: Sequence[Pair]) -> None:
    """Raise an error if fewer pairs were found than are to be held out."""
    counts = corpus.held_out
    for expected, found, which in (
        (counts.test + counts.valid, len(chosen), ""),
        (counts.placeholders, len(with_placeholders), " with placeholders"),
    ):
        if found < expected:
            raise ManyheadsError(
                f"{expected:,} pairs of {corpus.label}{which} are to be held out, but there are only {found:,} "
                "without repeated sentences.",
                cure="Hold out fewer.",
            )


def _keys(pair: Pair) -> Keys:
    """Return the keys of the two sentences, by which they are compared and ordered."""
    return _hash(sentence_key(pair.source)), _hash(sentence_key(pair.target))


def _hash(text: str) -> bytes:
    """Return an eight-byte hash of a text."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
