"""Training, validation and test data out of corpora that repeat their sentences.

Collections such as Tatoeba have one sentence with many translations, and the same English sentence beside German,
French and Chinese ones. A cut by line would let a model be tested on what it has learned by heart. So the cut is by
sentence, on both sides and over all languages at once: no sentence of the test or the validation data, in any language,
is in the training data of any pair, not even with other capitals or punctuation.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from manyheads.config.cut import CutSettings
from manyheads.data.chinese import simplified
from manyheads.data.corpora import open_corpus
from manyheads.data.pairs import Pair
from manyheads.errors import ManyheadsError

Languages = tuple[str, str]
"""Of the sources and of the targets."""


@dataclass
class Parts:
    """The three parts of the pairs of two languages."""

    train: list[Pair] = field(default_factory=list)
    valid: list[Pair] = field(default_factory=list)
    test: list[Pair] = field(default_factory=list)


def cut_corpora(settings: CutSettings) -> dict[Languages, Parts]:
    """Read the corpora of a cut, those of the same two languages together, and cut them."""
    together: dict[Languages, list[Pair]] = defaultdict(list)
    for corpus in settings.corpora:
        assert corpus.source_language is not None and corpus.target_language is not None
        languages = corpus.source_language, corpus.target_language
        written = [simplified if one in settings.simplified else str for one in languages]
        for pair in open_corpus(corpus, split="train").pairs():
            together[languages].append(Pair(written[0](pair.source.strip()), written[1](pair.target.strip())))
    return cut(together, valid=settings.valid, test=settings.test)


def cut(corpora: Mapping[Languages, Iterable[Pair]], *, valid: int, test: int) -> dict[Languages, Parts]:
    """Hold out so many pairs of each two languages; which ones depends on nothing but the texts."""
    whole = {languages: list(dict.fromkeys(filter(_has_text, pairs))) for languages, pairs in corpora.items()}
    parts = {languages: _hold_out(pairs, languages, valid, test) for languages, pairs in whole.items()}
    held_out: dict[str, set[str]] = defaultdict(set)
    for (source, target), one in parts.items():
        for pair in (*one.valid, *one.test):
            held_out[source].add(sentence_key(pair.source))
            held_out[target].add(sentence_key(pair.target))
    for (source, target), one in parts.items():
        one.train = [
            pair
            for pair in whole[source, target]
            if sentence_key(pair.source) not in held_out[source] and sentence_key(pair.target) not in held_out[target]
        ]
    return parts


def sentence_key(text: str) -> str:
    """Return what two sentences have in common that differ in capitals, punctuation and white space alone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def _has_text(pair: Pair) -> bool:
    """Whether neither side is empty."""
    return bool(pair.source.strip() and pair.target.strip())


def _hold_out(pairs: list[Pair], languages: Languages, valid: int, test: int) -> Parts:
    """Choose pairs in the order of their sources' hashes, none of whose sentences was chosen before."""
    sources: set[str] = set()
    targets: set[str] = set()
    chosen: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (_hash(sentence_key(pair.source)), _hash(sentence_key(pair.target)))):
        source, target = sentence_key(pair.source), sentence_key(pair.target)
        if source not in sources and target not in targets:
            sources.add(source)
            targets.add(target)
            chosen.append(pair)
            if len(chosen) == valid + test:
                return Parts(test=chosen[:test], valid=chosen[test:])
    raise ManyheadsError(
        f"{valid + test:,} pairs of {'-'.join(languages)} are to be held out, but there are only {len(chosen):,} "
        "without a sentence twice.",
        cure="Hold out fewer.",
    )


def _hash(text: str) -> bytes:
    """Return eight bytes that depend on a text alone."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
