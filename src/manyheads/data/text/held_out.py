"""Training and validation data: separate corpora, or one that is cut by sentence so that nothing leaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from manyheads.config.corpora import CorpusSettings, DataSettings
from manyheads.data.text.combined import tagged, together
from manyheads.data.text.corpora import Corpus, open_corpus
from manyheads.data.text.cut import Cut, cut_off
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError


class HeldOut(Corpus):
    """The pairs of a corpus that are held out for validation; they are kept in memory."""

    def __init__(self, whole: Corpus, count: int, before: Cut | None = None, *, both_ways: bool = False) -> None:
        """Hold out `count` pairs, as `before` if that was a cut of the same corpus; otherwise the corpus is read.

        `both_ways`: whether they are held out of the other direction of corpora, too.
        """
        self.whole = whole
        self.cut = before if before and before.is_of(whole, count) else cut_off(whole, count, both_ways=both_ways)
        self.sources = frozenset(pair.source for pair in self.pairs())
        self.targets = frozenset(() if self.cut.by_source_alone else (pair.target for pair in self.pairs()))

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs in the order of the whole."""
        return (pair for _, pair in self.cut.pairs)

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield the pairs with their lines in the whole."""
        return iter(self.cut.pairs)

    def key(self) -> str:
        """Return where the whole was cut and its key."""
        return f"held out {self.place} of {self.cut.corpus}"

    @property
    def place(self) -> str:
        """Where the whole was cut, as a part of keys."""
        return f"{self.cut.asked}{' by source' if self.cut.by_source_alone else ''}"

    def origin(self) -> str:
        """Return where the whole comes from and which part this is."""
        return f"held out of {self.whole.origin()}"

    def remark(self) -> str:
        """Say what became of the pairs whose target is held out though their source is not; empty if there are none."""
        shared = self.cut.shared
        if self.cut.by_source_alone:
            return (
                f"Training pairs that share their target with validation data: {shared:,}, too many to leave out; "
                "so validation data was cut off by source alone."
            )
        return f"Left out of training, since validation data has their target: {shared:,}." if shared else ""


class Without(Corpus):
    """A corpus without the sentences that are held out of another one."""

    def __init__(self, whole: Corpus, held_out: HeldOut) -> None:
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

    def remarks(self) -> list[str]:
        """Return the remarks on the whole."""
        return self.whole.remarks()

    def key(self) -> str:
        """Return the whole's key and that of what is held out."""
        return f"{self.whole.key()} without what is {self.held_out.key()}"

    def origin(self) -> str:
        """Return where the whole comes from."""
        return f"{self.whole.origin()} (without what is held out)"


class WithoutOnEitherSide(Without):
    """A corpus without the sentences that are held out of another one, on whichever side they are.

    It is for the other direction of a corpus that is read in both, whose sources are the targets of what is held out.
    """

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield the pairs that have no held-out sentence, with their lines in the whole."""
        sentences = self.held_out.sources | self.held_out.targets
        for number, pair in self.whole.numbered():
            if sentences.isdisjoint(pair):
                yield number, pair

    def key(self) -> str:
        """Return the whole's key and that of what is held out."""
        return f"{self.whole.key()} without either side of what is {self.held_out.key()}"


class Reversed(Corpus):
    """What is held out, in the other direction."""

    def __init__(self, held_out: HeldOut) -> None:
        self.held_out = held_out

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs with source and target exchanged."""
        return (Pair(pair.target, pair.source) for pair in self.held_out.pairs())

    def key(self) -> str:
        """Return the key of what is held out, and that it is reversed."""
        return f"reversed {self.held_out.key()}"

    def origin(self) -> str:
        """Return where the pairs come from."""
        return f"{self.held_out.origin()} (reversed)"


class Rest(Without):
    """What is left of a corpus when some of its own pairs are held out."""

    def __init__(self, held_out: HeldOut) -> None:
        super().__init__(held_out.whole, held_out)

    def count(self) -> int:
        """Return the number of pairs, which is known from the cut."""
        return self.held_out.cut.remaining

    def key(self) -> str:
        """Return where the whole was cut and its key."""
        return f"without {self.held_out.place} of {self.whole.key()}"

    def origin(self) -> str:
        """Return where the whole comes from and which part this is."""
        return f"without what is held out of {self.whole.origin()}"


class Corpora(NamedTuple):
    """The corpora of a recipe, with their tags; `held_out` is what was cut off the first one for validation, if any."""

    train: list[Corpus]
    valid: Corpus
    held_out: HeldOut | None = None


def open_corpora(
    settings: DataSettings,
    before: Cut | None = None,
    fingerprints: Fingerprints | None = None,
    *,
    is_older: bool = False,
) -> Corpora:
    """Return the training corpora and the validation corpus.

    Where this is cut off the training data, the cut that was made `before` is taken as long as the corpus is the same.
    It is in both directions if the first corpus is. A run of an older version, which heeded one direction alone, goes
    on with the data that it had. `fingerprints` has those of files that were read before.
    """
    known = fingerprints or Fingerprints()
    train, held_out = _split(settings, before, known, is_older=is_older)
    with_tags = [tagged(corpus, own.tags) for corpus, own in zip(train, settings.corpora, strict=True)]
    if held_out is not None:
        parts = (held_out, Reversed(held_out)) if held_out.cut.both_ways else (held_out,)
        directions = zip(parts, _first(settings).directions, strict=False)
        return Corpora(with_tags, together([tagged(one, own.tags) for one, own in directions]), held_out)
    valid = [tagged(open_corpus(one, split="valid", fingerprints=known), one.tags) for one in settings.valid_corpora]
    return Corpora(with_tags, together(valid))


def _first(settings: DataSettings) -> CorpusSettings:
    """Return the corpus that is first in the recipe."""
    return settings.train[0] if isinstance(settings.train, tuple) else settings.train


def _split(
    settings: DataSettings, before: Cut | None, fingerprints: Fingerprints, *, is_older: bool
) -> tuple[list[Corpus], HeldOut | None]:
    """Return the training corpora, and what is cut off the first of them where there are no validation files."""
    train = [open_corpus(corpus, split="train", fingerprints=fingerprints) for corpus in settings.corpora]
    if settings.valid is not None:
        return train, None
    if settings.held_out == 0:
        raise ManyheadsError(
            "there is no validation data, so progress could not be measured.",
            where="data",
            cure="Give data.valid, or cut some pairs off the training data with data.held_out: 1000",
        )
    both_ways = any(settings.are_reversed) and not is_older
    held_out = HeldOut(train[0], settings.held_out, before, both_ways=both_ways)
    either_side = WithoutOnEitherSide if held_out.cut.both_ways else Without
    others = zip(train[1:], settings.are_reversed[1:], strict=True)
    without = [(either_side if reverse else Without)(other, held_out) for other, reverse in others]
    return [Rest(held_out), *without], held_out
