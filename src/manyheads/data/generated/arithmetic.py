"""Addition: `12+345` becomes `357`, character by character.

The number of digits of each operand is drawn first, evenly, so that short and long numbers are met alike.
`12+345` and `345+12` are one example to the split: a sum that is tested was not trained on the other way
round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.drawing import Split, collect, number_below, source_of_chance, split_of
from manyheads.data.generated.options import check_range
from manyheads.data.text.records import Pair

_MOST_DIGITS = 1_000  # Python refuses to turn texts of more than 4,300 digits into numbers


@dataclass(frozen=True)
class Addition:
    """Add two whole numbers, each of `min_digits` to `max_digits` digits and without leading zeros."""

    name: ClassVar[str] = "addition"
    min_digits: int = 1
    max_digits: int = 5

    def __post_init__(self) -> None:
        check_range(
            self.name,
            least=("min_digits", self.min_digits),
            most=("max_digits", self.max_digits),
            low=1,
            high=_MOST_DIGITS,
        )

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        random = source_of_chance(self.name, split, seed)
        while True:
            left, right = self._number(random), self._number(random)
            identity = f"{min(left, right)}+{max(left, right)}"
            yield Pair(f"{left}+{right}", str(left + right)) if split_of(identity) == split else None

    def _number(self, random: Random) -> int:
        digits = self.min_digits + number_below(random, self.max_digits - self.min_digits + 1)
        # Digit by digit, because random() has 53 bits and a long number has more.
        first = number_below(random, 10) if digits == 1 else 1 + number_below(random, 9)
        return int(str(first) + "".join(str(number_below(random, 10)) for _ in range(digits - 1)))
