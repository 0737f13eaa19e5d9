"""Addition: `12+345` becomes `357`, character by character. Binary addition: `110+101` (3 + 5) becomes `0001`.

The number of digits of each operand is drawn first, uniformly, so that short and long numbers are equally frequent.
Binary numbers are written with the lowest bit first, and both have the same number of digits (Kaiser and Sutskever
2015): so a carry goes to the right, and the work is the same at every digit.
`12+345` and `345+12` belong to the same split: if a sum is in the test data, the swapped sum is not in the training
data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Generic, TypeVar

from manyheads.data.generated.options import check_range
from manyheads.data.generated.random_examples import Split, collect, pick_many, random_below, seeded_random, split_of
from manyheads.data.text.records import Pair

_MOST_DIGITS = 1_000  # Python does not convert strings of more than 4,300 digits into numbers


Number = TypeVar("Number", int, str)


@dataclass(frozen=True)
class _Addition(ABC, Generic[Number]):
    """Add two numbers, each with `min_digits` to `max_digits` digits."""

    name: ClassVar[str]
    min_digits: int
    max_digits: int

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
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        while True:
            left, right, total = self._sum(random)
            identity = f"{min(left, right)}+{max(left, right)}"
            yield Pair(f"{left}+{right}", str(total)) if split_of(identity) == split else None

    def _digits(self, random: Random) -> int:
        """Return a random number of digits."""
        return self.min_digits + random_below(random, self.max_digits - self.min_digits + 1)

    @abstractmethod
    def _sum(self, random: Random) -> tuple[Number, Number, Number]:
        """Return two random numbers and their sum."""


@dataclass(frozen=True)
class Addition(_Addition[int]):
    """Add two whole numbers, each with `min_digits` to `max_digits` digits and without leading zeros."""

    name: ClassVar[str] = "addition"
    min_digits: int = 1
    max_digits: int = 5

    def _sum(self, random: Random) -> tuple[int, int, int]:
        """Return two random numbers and their sum."""
        left, right = self._number(random), self._number(random)
        return left, right, left + right

    def _number(self, random: Random) -> int:
        """Return a random operand."""
        digits = self._digits(random)
        # Digit by digit, because random() has 53 bits and a long number has more.
        first = random_below(random, 10) if digits == 1 else 1 + random_below(random, 9)
        return int(str(first) + "".join(str(random_below(random, 10)) for _ in range(digits - 1)))


@dataclass(frozen=True)
class BinaryAddition(_Addition[str]):
    """Add two binary numbers of the same number of digits, `min_digits` to `max_digits`, the lowest bit first.

    Numbers may end with zeros, their highest bits. The sum has as many digits, and one more where a carry is left.
    """

    name: ClassVar[str] = "binary_addition"
    min_digits: int = 1
    max_digits: int = 20

    def _sum(self, random: Random) -> tuple[str, str, str]:
        """Return two random numbers and their sum."""
        digits = self._digits(random)
        left, right = ("".join(pick_many(random, "01", digits)) for _ in range(2))
        return left, right, _binary_sum(left, right)


def _binary_sum(left: str, right: str) -> str:
    """Return the sum of two binary numbers of the same number of digits, the lowest bit first."""
    total = int(left[::-1], 2) + int(right[::-1], 2)
    return f"{total:0{len(left)}b}"[::-1]
