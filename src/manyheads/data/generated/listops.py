"""ListOps (Nangia & Bowman 2018; as in Long Range Arena): `[MAX 2 9 [MIN 4 7 ] 0 ]` is 9.

A list contains digits and lists. Its value is their maximum, minimum, median (the lower of two) or sum modulo 10. The
answer is one of ten digits, and depends on how the brackets match over the whole text. As in Long Range Arena, a tree
is drawn from the top, each entry is a list with probability 1/4 up to the maximum depth, and trees that are too short
or too long are discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.options import check_range, check_whole_number
from manyheads.data.generated.random_examples import Split, collect, pick, random_below, seeded_random, split_of
from manyheads.data.text.records import Example

OPERATORS: dict[str, Callable[[list[int]], int]] = {
    "MAX": max,
    "MIN": min,
    "MED": lambda values: sorted(values)[(len(values) - 1) // 2],
    "SM": lambda values: sum(values) % 10,
}
LISTS = 0.25  # share of lists among the entries, until the maximum depth is reached


@dataclass(frozen=True)
class ListOps:
    """Evaluate nested lists of `min_length` to `max_length` symbols, at most `depth` levels deep.

    A list has at most `arguments` entries.
    """

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
        """Yield random examples without end; None for one of another length or split."""
        random = seeded_random(self.name, split, seed)
        while True:
            symbols: list[str] = []
            value = self._list(random, symbols, self.depth)
            text = " ".join(symbols)
            fits = value is not None and self.min_length <= len(symbols)
            yield Example(text, str(value)) if fits and split_of(text) == split else None

    def _list(self, random: Random, symbols: list[str], depth: int) -> int | None:
        """Append a random list to the symbols and return its value; None if it is too long."""
        operator = pick(random, tuple(OPERATORS))
        symbols.append(f"[{operator}")
        values = []
        for _ in range(2 + random_below(random, self.arguments - 1)):
            value = self._entry(random, symbols, depth - 1)
            if value is None:
                return None
            values.append(value)
        symbols.append("]")
        return OPERATORS[operator](values) if len(symbols) <= self.max_length else None

    def _entry(self, random: Random, symbols: list[str], depth: int) -> int | None:
        """Append a random digit or list to the symbols and return its value; None if it is too long."""
        if depth > 0 and random.random() < LISTS:
            return self._list(random, symbols, depth)
        digit = random_below(random, 10)
        symbols.append(str(digit))
        return digit
