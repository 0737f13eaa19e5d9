"""Which pairs of a corpus are held out for validation: those whose sources have the smallest hashes.

Hashes depend on nothing but text, so what is held out does not depend on the order of the corpus, and a source that
occurs several times is held out as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

if TYPE_CHECKING:  # a run folder needs the cut alone, and importing corpora takes time
    from manyheads.data.text.corpora import Corpus

LARGEST_LOSS = 0.1  # of the training pairs: more are not left out for the sake of targets that they share


class Cut(BaseModel):
    """The pairs that are held out of a corpus, and what was counted in the rest. A run folder keeps it as JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    corpus: str  # its key
    asked: int  # pairs that were to be held out; there are more where the source of the last one is repeated
    shared: int  # pairs whose target is held out though their source is not
    by_source_alone: bool  # whether these remain in training
    remaining: int  # pairs to train on
    both_ways: bool = False  # whether it is held out of the other direction of corpora, too; older runs have it False
    pairs: tuple[tuple[int, Pair], ...]  # with their lines, in the order of the corpus

    def is_of(self, corpus: Corpus, count: int) -> bool:
        """Whether cutting `count` pairs off a corpus gives this cut; files are read for their fingerprints only."""
        return self.asked == count and self.corpus == corpus.key()


def cut_off(corpus: Corpus, count: int, *, both_ways: bool = False) -> Cut:
    """Choose pairs to hold out; the corpus is read twice. `both_ways` is only recorded.

    Pairs that share their target with one of them are left out of training, so that no sentence of either side is in
    both parts. Where that would take more than a tenth of the training pairs, targets are not sentences of their own
    but labels, say, which both parts must have; then the cut is by source alone.
    """
    pairs, total = _smallest_hashes(corpus.numbered(), count)
    if total <= count:
        raise ManyheadsError(
            f"{count:,} pairs are to be held out for validation, but there are only {total:,}.",
            where=corpus.origin(),
            cure="Give validation data (data.valid) or a smaller data.held_out.",
        )
    sources, targets = {pair.source for _, pair in pairs}, {pair.target for _, pair in pairs}
    shared = sum(pair.target in targets for pair in corpus.pairs() if pair.source not in sources)
    others = total - len(pairs)
    by_source_alone = shared > LARGEST_LOSS * others
    return Cut(
        corpus=corpus.key(),
        asked=count,
        shared=shared,
        by_source_alone=by_source_alone,
        remaining=others if by_source_alone else others - shared,
        both_ways=both_ways,
        pairs=tuple(pairs),
    )


class _Candidate(NamedTuple):
    """A pair that has one of the smallest hashes so far."""

    hash: bytes
    number: int
    pair: Pair


def _smallest_hashes(numbered: Iterable[tuple[int, Pair]], count: int) -> tuple[list[tuple[int, Pair]], int]:
    """Return the pairs with the `count` smallest hashes and those that tie with the last, and the number of all pairs.

    They are found in one pass. At no time are there more than twice the candidates that would be chosen if no other
    pair came.
    """
    candidates: list[_Candidate] = []
    total, largest, room = 0, None, 2 * count
    for number, pair in numbered:
        total += 1
        candidate = _Candidate(_hash(pair.source), number, pair)
        if largest is None or candidate.hash <= largest:
            candidates.append(candidate)
        if len(candidates) > room:
            candidates = _chosen(candidates, count)
            largest, room = max(one.hash for one in candidates), 2 * len(candidates)
    return [(one.number, one.pair) for one in _chosen(candidates, count)], total


def _chosen(candidates: list[_Candidate], count: int) -> list[_Candidate]:
    """Return the candidates with the `count` smallest hashes and those that tie with the last, in their order."""
    smallest = set(sorted(one.hash for one in candidates)[:count])
    return [one for one in candidates if one.hash in smallest]


def _hash(text: str) -> bytes:
    """Return eight bytes that depend on a text alone."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
