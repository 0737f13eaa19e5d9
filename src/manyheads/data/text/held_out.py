"""Training and validation data: separate corpora, or one that is cut by sentence so that nothing leaks."""

from __future__ import annotations

import copy
import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator

from manyheads.config.corpora import DataSettings
from manyheads.data.text.corpora import Corpus, open_corpus, tagged, together
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

LARGEST_LOSS = 0.1  # of the training pairs: more are not left out for the sake of targets that they share


class Part(Corpus):
    """What is left of a corpus when some pairs are held out for validation, or those that were.

    The cut is by sentence on both sides: no source and no target sentence that is held out remains in training, so
    repeated sentences cannot leak. Held out are the sources with the smallest hashes, which depend on nothing but text.

    Where that would take more than a tenth of the pairs from training, targets are not sentences of their own but
    labels, say, which both parts must have; then the cut is by source alone.
    """

    def __init__(self, whole: Corpus, *, held_out: int, validation: bool) -> None:
        self.whole = whole
        self.held_out = held_out
        self.validation = validation
        smallest = heapq.nsmallest(held_out + 1, (_hash(pair.source) for pair in whole.pairs()))
        if len(smallest) <= held_out:
            raise ManyheadsError(
                f"{held_out:,} pairs are to be held out for validation, but there are only {len(smallest):,}.",
                where=whole.origin(),
                cure="Give validation data (data.valid) or a smaller data.held_out.",
            )
        self._largest = smallest[held_out - 1]
        validating = [pair for pair in whole.pairs() if self._is_held_out(pair)]
        self.sources = frozenset(pair.source for pair in validating)
        self.targets = frozenset(pair.target for pair in validating)
        training = Counter(pair.target in self.targets for pair in whole.pairs() if not self._is_held_out(pair))
        self.shared = training[True]
        self.by_source_alone = self.shared > LARGEST_LOSS * training.total()
        if self.by_source_alone:
            self.targets = frozenset()

    def complement(self) -> Part:
        """Return the other part of the same cut, without looking for it again."""
        other = copy.copy(self)
        other.validation = not self.validation
        return other

    def _is_held_out(self, pair: Pair) -> bool:
        """Whether the hash of the source is among the smallest."""
        return _hash(pair.source) <= self._largest

    def pairs(self) -> Iterator[Pair]:
        """Yield this part's pairs in the order of the whole."""
        return (pair for _, pair in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield this part's pairs with their lines in the whole."""
        for number, pair in self.whole.numbered():
            held_out = self._is_held_out(pair)
            if held_out if self.validation else not held_out and pair.target not in self.targets:
                yield number, pair

    def key(self) -> str:
        """Return the whole's key and where it was cut."""
        side = " by source" if self.by_source_alone else ""
        return f"{'held out' if self.validation else 'without'} {self.held_out}{side} of {self.whole.key()}"

    def origin(self) -> str:
        """Return where the whole comes from and which part this is."""
        part = "held out of" if self.validation else "without what is held out of"
        return f"{part} {self.whole.origin()}"

    def remark(self) -> str:
        """Say what became of the pairs whose target is held out though their source is not; empty if there are none."""
        if self.by_source_alone:
            return (
                f"Training pairs that share their target with validation data: {self.shared:,}, too many to leave out; "
                "so validation data was cut off by source alone."
            )
        return f"Left out of training, since validation data has their target: {self.shared:,}." if self.shared else ""


class Without(Corpus):
    """A corpus without the sentences that are held out of another one."""

    def __init__(self, whole: Corpus, held_out: Part) -> None:
        self.whole = whole
        self.held_out = held_out

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs neither side of which is held out, in the order of the whole."""
        return (pair for _, pair in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield these pairs with their lines in the whole."""
        for number, pair in self.whole.numbered():
            if pair.source not in self.held_out.sources and pair.target not in self.held_out.targets:
                yield number, pair

    def key(self) -> str:
        """Return the whole's key and that of what is held out."""
        return f"{self.whole.key()} without what is {self.held_out.key()}"

    def origin(self) -> str:
        """Return where the whole comes from."""
        return f"{self.whole.origin()} (without what is held out)"


def open_corpora(settings: DataSettings) -> tuple[list[Corpus], Corpus]:
    """Return the training corpora, with their tags, and the validation corpus."""
    train, valid = _split(settings)
    return [tagged(corpus, own.tags) for corpus, own in zip(train, settings.corpora, strict=True)], valid


def _split(settings: DataSettings) -> tuple[list[Corpus], Corpus]:
    """Return the training corpora and the validation corpus, cut off the first of them where the recipe says so."""
    train = [open_corpus(corpus, split="train") for corpus in settings.corpora]
    if settings.valid is not None:
        return train, together([tagged(open_corpus(one, split="valid"), one.tags) for one in settings.valid_corpora])
    if settings.held_out == 0:
        raise ManyheadsError(
            "there is no validation data, so progress could not be measured.",
            where="data",
            cure="Give data.valid, or cut some pairs off the training data with data.held_out: 1000",
        )
    first, *others = train
    valid = Part(first, held_out=settings.held_out, validation=True)
    return [valid.complement(), *(Without(other, valid) for other in others)], valid


def _hash(text: str) -> bytes:
    """Return eight bytes that depend on a text alone."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
