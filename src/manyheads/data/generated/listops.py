"""ListOps (Nangia & Bowman 2018; as in Long Range Arena): `[MAX 2 9 [MIN 4 7 ] 0 ]` is 9.

Lists of digits and lists, of which the greatest, the least, the median (the lower one of two) or the sum modulo 10 is
asked for. The answer hangs on how brackets fit together over the whole text, and is one of ten digits. As in Long Range
Arena, a tree is drawn from the top, each entry is a list with probability 1/4 as long as it is not too deep, and trees
that are too short or too long are thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.drawing import Split, collect, number_below, pick, source_of_chance, split_of
from manyheads.data.generated.options import check_range, check_whole_number
from manyheads.data.text.records import Example

OPERATORS: dict[str, Callable[[list[int]], int]] = {
    "MAX": max,
    "MIN": min,
    "MED": lambda values: sorted(values)[(len(values) - 1) // 2],
    "SM": lambda values: sum(values) % 10,
}
LISTS = 0.25  # of the entries, as long as they may be any


@dataclass(frozen=True)
class ListOps:
    """Evaluate nested lists of `min_length` to `max_length` symbols, at most `depth` deep and `arguments` wide."""

    name: ClassVar[str] = "listops"
    min_length: int = 500
    max_length: int = 2000
    depth: int = 10
    arguments: int = 10

    def __post_init__(self) -> None:
        check_range(
            self.name,
            least=("min_length", self.min_length),
            most=("max_length", self.max_length),
            low=4,
            high=100_000,
        )
        check_whole_number(self.name, "depth", self.depth, low=1, high=100)
        check_whole_number(self.name, "arguments", self.arguments, low=2, high=100)

    def examples(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Example]:
        """Return `count` examples of the split; the same arguments give the same examples everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Example | None]:
        random = source_of_chance(self.name, split, seed)
        while True:
            symbols: list[str] = []
            value = self._list(random, symbols, self.depth)
            text = " ".join(symbols)
            fits = value is not None and self.min_length <= len(symbols)
            yield Example(text, str(value)) if fits and split_of(text) == split else None

    def _list(self, random: Random, symbols: list[str], depth: int) -> int | None:
        """Write a list and return its value; None where it has become too long."""
        operator = pick(random, tuple(OPERATORS))
        symbols.append(f"[{operator}")
        values = []
        for _ in range(2 + number_below(random, self.arguments - 1)):
            value = self._entry(random, symbols, depth - 1)
            if value is None:
                return None
            values.append(value)
        symbols.append("]")
        return OPERATORS[operator](values) if len(symbols) <= self.max_length else None

    def _entry(self, random: Random, symbols: list[str], depth: int) -> int | None:
        """Write a digit or a list."""
        if depth > 0 and random.random() < LISTS:
            return self._list(random, symbols, depth)
        digit = number_below(random, 10)
        symbols.append(str(digit))
        return digit
