"""Training, validation and test data out of corpora that repeat their sentences.

Collections such as Tatoeba have one sentence with many translations, and the same English sentence beside German,
French and Chinese ones. A cut by line would let a model be tested on what it has learned by heart. So the cut is by
sentence, on both sides and over all languages and corpora at once: no sentence of the test or the validation data, in
any language, is in the training data of any pair, not even with other capitals or punctuation.
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
from manyheads.data.text.placeholders import placeholders, same_placeholders
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

REASONS = (*KINDS, "kept_out", "shared")
"""Why a pair is in no part: a fault, or a sentence that it shares with what is kept out or held out."""
Languages = tuple[str, str]
"""Of the sources and of the targets."""
Keys = tuple[bytes, bytes]
"""By which the sentences of a pair are recognised."""
Sentences = dict[str, set[bytes]]
"""The keys of sentences, by language."""


@dataclass(frozen=True)
class HeldOut:
    """How many pairs are held out."""

    test: int
    valid: int
    placeholders: int = 0


@dataclass
class Parts:
    """The parts of a corpus. The last one has pairs with placeholders, beyond those of the test."""

    train: list[Pair] = field(default_factory=list)
    valid: list[Pair] = field(default_factory=list)
    test: list[Pair] = field(default_factory=list)
    placeholders: list[Pair] = field(default_factory=list)


@dataclass
class Portion:
    """A corpus that is cut: its pairs, what becomes of them, and why some are in no part."""

    name: str | None
    languages: Languages
    held_out: HeldOut
    pairs: list[Pair]
    parts: Parts = field(default_factory=Parts)
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """How many pairs are in no part, by reason; one pair may have several."""

    @property
    def label(self) -> str:
        """Its name and its languages, as in the names of files."""
        return ".".join(filter(None, (self.name, "-".join(self.languages))))

    def report(self) -> dict[str, Any]:
        """Return the numbers of pairs that were read, that are in each part, and that are in none."""
        return {
            "name": self.name,
            "languages": self.languages,
            "read": self.read,
            "parts": {part: len(pairs) for part, pairs in vars(self.parts).items()},
            "dropped": {kind: self.dropped[kind] for kind in REASONS if self.dropped[kind]},
        }


def cut_corpora(settings: CutSettings, *, progress: Callable[[str], None] = lambda _: None) -> list[Portion]:
    """Read the corpora of a cut, clean them if asked to, and cut them; say which one is being read."""
    portions = []
    for together in settings.together():
        progress(" ".join(filter(None, (together[0].name, *_languages(together[0])))))
        portion = _read_portion(together, settings)
        if settings.clean:
            portion.pairs = list(_without_faults(portion, settings.clean))
        portions.append(portion)
    cut(portions, keep_out=_kept_out(settings), shortest=settings.shortest)
    if settings.clean:
        _drop_repetitions(portions)
    return portions


def cut(portions: Sequence[Portion], *, keep_out: Sentences | None = None, shortest: int = 1) -> None:
    """Fill the parts of each portion; which pairs are held out depends on nothing but the texts."""
    keys = [[_keys(pair) for pair in portion.pairs] for portion in portions]
    apart: Sentences = {language: set(some) for language, some in (keep_out or {}).items()}
    for portion, its_keys in zip(portions, keys, strict=True):
        _keep_out(portion, its_keys, apart)
        _hold_out(portion, its_keys, shortest)
    for portion in portions:
        parts = portion.parts
        add_sentences(apart, portion.languages, (*parts.valid, *parts.test, *parts.placeholders))
    for portion, its_keys in zip(portions, keys, strict=True):
        portion.parts.train = [portion.pairs[index] for index in _without(portion, its_keys, apart)]
        portion.dropped["shared"] = len(portion.pairs) - sum(map(len, vars(portion.parts).values()))


def sentence_key(text: str) -> str:
    """Return what two sentences have in common that differ in capitals, punctuation and white space alone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def add_sentences(sentences: Sentences, languages: Languages, pairs: Iterable[Pair]) -> None:
    """Add both sides of each pair to the sentences of their languages."""
    for pair in pairs:
        for language, key in zip(languages, _keys(pair), strict=True):
            sentences.setdefault(language, set()).add(key)


def _read_portion(together: Sequence[CutCorpusSettings], settings: CutSettings) -> Portion:
    """Read corpora that are cut together, each pair once and none with an empty side."""
    first = together[0]
    held_out = HeldOut(
        test=settings.test if first.test is None else first.test,
        valid=settings.valid if first.valid is None else first.valid,
        placeholders=first.placeholders,
    )
    read = [pair for corpus in together for pair in _read(corpus, settings.simplified)]
    filled = [pair for pair in read if pair.source and pair.target]
    pairs = list(dict.fromkeys(filled))
    dropped = Counter(empty=len(read) - len(filled), duplicated=len(filled) - len(pairs))
    return Portion(first.name, _languages(first), held_out, pairs, read=len(read), dropped=dropped)


def _read(corpus: CorpusSettings, simplified_languages: Iterable[str]) -> Iterator[Pair]:
    """Yield the pairs of a corpus without white space around them, in simplified characters where asked for."""
    source, target = (simplified if one in simplified_languages else str for one in _languages(corpus))
    for pair in open_corpus(corpus, split="train").pairs():
        yield Pair(source(pair.source.strip()), target(pair.target.strip()))


def _languages(corpus: CorpusSettings) -> Languages:
    """Return the two languages that every corpus of a cut has."""
    assert corpus.source_language is not None and corpus.target_language is not None
    return corpus.source_language, corpus.target_language


def _kept_out(settings: CutSettings) -> Sentences:
    """Return the sentences that must be in no part."""
    sentences: Sentences = {}
    for corpus in settings.keep_out:
        add_sentences(sentences, _languages(corpus), _read(corpus, settings.simplified))
    return sentences


def _without_faults(portion: Portion, limits: CleaningSettings) -> Iterator[Pair]:
    """Yield the pairs that have no fault by themselves, and count those of the others."""
    source, target = portion.languages
    checker = Checker(
        Limits(limits.characters, limits.ratio),
        usual_ratio=usual_ratio(portion.pairs),
        source_language=source,
        target_language=target,
    )
    for pair in portion.pairs:
        faults = checker.faults(pair)
        portion.dropped.update(faults)
        if not faults:
            yield pair


def _drop_repetitions(portions: Iterable[Portion]) -> None:
    """Leave one of the training pairs of two languages that are nearly the same, whichever corpora they are in."""
    seen: dict[Languages, Repetitions] = defaultdict(Repetitions)
    for portion in portions:
        kept = []
        for pair in portion.parts.train:
            fault = seen[portion.languages].fault(pair)
            if fault is None:
                kept.append(pair)
            else:
                portion.dropped[fault] += 1
        portion.parts.train = kept


def _keep_out(portion: Portion, keys: list[Keys], sentences: Sentences) -> None:
    """Leave the pairs, and their keys, that have none of these sentences."""
    left = _without(portion, keys, sentences)
    portion.dropped["kept_out"] = len(portion.pairs) - len(left)
    portion.pairs[:] = [portion.pairs[index] for index in left]
    keys[:] = [keys[index] for index in left]


def _without(portion: Portion, keys: Sequence[Keys], sentences: Sentences) -> list[int]:
    """Return where the pairs stand that have none of these sentences."""
    sources, targets = (sentences.get(language) or set() for language in portion.languages)
    return [i for i, (source, target) in enumerate(keys) if source not in sources and target not in targets]


def _hold_out(portion: Portion, keys: Sequence[Keys], shortest: int) -> None:
    """Choose pairs in the order of their keys, none of whose sentences was chosen before."""
    wanted = portion.held_out
    sources: set[bytes] = set()
    targets: set[bytes] = set()
    chosen: list[Pair] = []
    with_placeholders: list[Pair] = []
    for index in sorted(range(len(keys)), key=keys.__getitem__):
        if len(chosen) == wanted.test + wanted.valid and len(with_placeholders) == wanted.placeholders:
            break
        pair, (source, target) = portion.pairs[index], keys[index]
        if source in sources or target in targets or len(pair.source.split()) < shortest:
            continue
        if len(chosen) < wanted.test + wanted.valid:
            chosen.append(pair)
        elif _has_placeholders(pair):
            with_placeholders.append(pair)
        else:
            continue
        sources.add(source)
        targets.add(target)
    _refuse_too_many(portion, chosen, with_placeholders)
    portion.parts.test, portion.parts.valid = chosen[: wanted.test], chosen[wanted.test :]
    portion.parts.placeholders = with_placeholders


def _has_placeholders(pair: Pair) -> bool:
    """Whether there are placeholders, the same on both sides."""
    return bool(placeholders(pair.source)) and same_placeholders(pair.source, pair.target)


def _refuse_too_many(portion: Portion, chosen: Sequence[Pair], with_placeholders: Sequence[Pair]) -> None:
    """Raise an error if there are fewer pairs than are to be held out."""
    wanted = portion.held_out
    for number, found, which in (
        (wanted.test + wanted.valid, len(chosen), ""),
        (wanted.placeholders, len(with_placeholders), " with placeholders"),
    ):
        if found < number:
            raise ManyheadsError(
                f"{number:,} pairs of {portion.label}{which} are to be held out, but there are only {found:,} "
                "without a sentence twice.",
                cure="Hold out fewer.",
            )


def _keys(pair: Pair) -> Keys:
    """Return by what the two sentences are recognised, and ordered."""
    return _hash(sentence_key(pair.source)), _hash(sentence_key(pair.target))


def _hash(text: str) -> bytes:
    """Return eight bytes that depend on a text alone."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
