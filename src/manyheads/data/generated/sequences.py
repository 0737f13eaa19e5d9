"""Copy, reverse and sort: the smallest tasks that show whether a model looks where it should.

A source is a row of symbols with spaces between them, such as `d a f c`, so that a tokenizer which splits
at white space sees one token for each. Its length is drawn first, evenly, then each symbol. The split of a
source is decided by its text, so the three tasks agree on what is held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from string import ascii_lowercase
from typing import ClassVar

from manyheads.data.generated.drawing import Split, collect, number_below, pick_many, source_of_chance, split_of
from manyheads.data.generated.options import check_range, check_whole_number
from manyheads.data.text.records import Pair

_LONGEST = 100_000
_MOST_SYMBOLS = len(ascii_lowercase) ** 2


def alphabet(symbols: int) -> tuple[str, ...]:
    """Return that many symbols in their order: a, b, c …, or aa, ab, ac … where one letter is not enough."""
    letters = 1 if symbols <= len(ascii_lowercase) else 2  # all of one width, or they would not sort in order
    return tuple(islice(map("".join, product(ascii_lowercase, repeat=letters)), symbols))


@dataclass(frozen=True)
class _SequenceTask:
    """What the three tasks share: everything but the answer."""

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
        random = source_of_chance(self.name, split, seed)
        known = alphabet(self.symbols)
        while True:
            length = self.min_length + number_below(random, self.max_length - self.min_length + 1)
            symbols = pick_many(random, known, length)
            source = " ".join(symbols)
            yield Pair(source, " ".join(self.answer(symbols))) if split_of(source) == split else None


@dataclass(frozen=True)
class Copy(_SequenceTask):
    """Write the source again: `d a f c` becomes `d a f c`.

    A source has `min_length` to `max_length` symbols, out of an alphabet of `symbols` different ones.
    """

    name: ClassVar[str] = "copy"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols as they are."""
        return symbols


@dataclass(frozen=True)
class Reverse(_SequenceTask):
    """Write the source from its end: `d a f c` becomes `c f a d`. Options as for `Copy`."""

    name: ClassVar[str] = "reverse"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols, the last first."""
        return symbols[::-1]


@dataclass(frozen=True)
class Sort(_SequenceTask):
    """Write the source in alphabetical order: `d a f c` becomes `a c d f`. Options as for `Copy`."""

    name: ClassVar[str] = "sort"

    def answer(self, symbols: list[str]) -> list[str]:
        """Return the symbols in alphabetical order, repetitions included."""
        return sorted(symbols)
