"""Addition: `12+345` becomes `357`, character by character.

The number of digits of each operand is drawn first, uniformly, so that short and long numbers are equally frequent.
`12+345` and `345+12` belong to the same split: if a sum is in the test data, the swapped sum is not in the training
data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.options import check_range
from manyheads.data.generated.random_examples import Split, collect, random_below, seeded_random, split_of
from manyheads.data.text.records import Pair

_MOST_DIGITS = 1_000  # Python does not convert strings of more than 4,300 digits into numbers


@dataclass(frozen=True)
class Addition:
    """Add two whole numbers, each with `min_digits` to `max_digits` digits and without leading zeros."""

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
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        while True:
            left, right = self._number(random), self._number(random)
            identity = f"{min(left, right)}+{max(left, right)}"
            yield Pair(f"{left}+{right}", str(left + right)) if split_of(identity) == split else None

    def _number(self, random: Random) -> int:
        """Return a random operand."""
        digits = self.min_digits + random_below(random, self.max_digits - self.min_digits + 1)
        # Digit by digit, because random() has 53 bits and a long number has more.
        first = random_below(random, 10) if digits == 1 else 1 + random_below(random, 9)
        return int(str(first) + "".join(str(random_below(random, 10)) for _ in range(digits - 1)))
