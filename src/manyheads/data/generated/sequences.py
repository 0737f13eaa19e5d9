"""Copy, reverse, sort and duplicate: the smallest tasks that show whether a model attends to the right positions.

A source is a sequence of symbols separated by spaces, such as `d a f c`, so that a tokenizer which splits at white
space has one token per symbol. The length is drawn first, uniformly, then each symbol. The split of a source depends
on its text, so the tasks hold out the same sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from string import ascii_lowercase
from typing import ClassVar

from manyheads.data.generated.options import check_range, check_whole_number
from manyheads.data.generated.random_examples import Split, collect, pick_many, random_below, seeded_random, split_of
from manyheads.data.text.records import Pair

_LONGEST = 100_000
_MOST_SYMBOLS = len(ascii_lowercase) ** 2


def alphabet(symbols: int) -> tuple[str, ...]:
    """Return this number of symbols in order: a, b, c …, or aa, ab, ac … if there are more symbols than letters."""
    letters = 1 if symbols <= len(ascii_lowercase) else 2  # the same for all, so that they sort in this order
    return tuple(islice(map("".join, product(ascii_lowercase, repeat=letters)), symbols))


@dataclass(frozen=True)
class _SequenceTask:
    """The common part of these tasks: everything but the answer."""

    name: ClassVar[str]
    min_length: int = 1
    max_length: int = 20
    symbols: int = 26

    def __post_init__(self) -> None:
        check_range(
            self.name,
            least=("min_length", self.min_length),
            most=("max_length", self.max_length),
            low=1,
            high=_LONGEST,
        )
        check_whole_number(self.name, "symbols", self.symbols, low=2, high=_MOST_SYMBOLS)

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the target symbols for the source symbols."""
        raise NotImplementedError

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        known = alphabet(self.symbols)
        while True:
            length = self.min_length + random_below(random, self.max_length - self.min_length + 1)
            symbols = pick_many(random, known, length)
            source = " ".join(symbols)
            yield Pair(source, " ".join(self.answer(symbols))) if split_of(source) == split else None


@dataclass(frozen=True)
class Copy(_SequenceTask):
    """Copy the source: `d a f c` becomes `d a f c`.

    A source has `min_length` to `max_length` symbols from an alphabet of `symbols` symbols.
    """

    name: ClassVar[str] = "copy"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols as they are."""
        return symbols


@dataclass(frozen=True)
class Reverse(_SequenceTask):
    """Reverse the source: `d a f c` becomes `c f a d`. Options as for `Copy`."""

    name: ClassVar[str] = "reverse"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols in reverse order."""
        return symbols[::-1]


@dataclass(frozen=True)
class Sort(_SequenceTask):
    """Sort the source: `d a f c` becomes `a c d f`. Options as for `Copy`."""

    name: ClassVar[str] = "sort"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols in alphabetical order, including repetitions."""
        return sorted(symbols)


@dataclass(frozen=True)
class Duplicate(_SequenceTask):
    """Write the source twice: `d a f` becomes `d a f d a f`. Options as for `Copy`."""

    name: ClassVar[str] = "duplicate"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols twice."""
        return [*symbols, *symbols]
