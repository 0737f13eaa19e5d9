"""Parity: `1 0 1 1` becomes `1`, since the number of ones is odd.

One bit of memory is enough to read from left to right. Every bit counts, so nothing can be averaged or left out:
attention of fixed depth has difficulties with it where sources are long (Hahn 2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from manyheads.data.generated.options import check_range
from manyheads.data.generated.random_examples import Split, collect, pick_many, random_below, seeded_random, split_of
from manyheads.data.text.records import Pair

_LONGEST = 100_000


@dataclass(frozen=True)
class Parity:
    """Tell whether the number of ones among `min_length` to `max_length` bits is odd (1) or even (0)."""

    name: ClassVar[str] = "parity"
    min_length: int = 1
    max_length: int = 20

    def __post_init__(self) -> None:
        check_range(
            self.name,
            least=("min_length", self.min_length),
            most=("max_length", self.max_length),
            low=1,
            high=_LONGEST,
        )

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        while True:
            length = self.min_length + random_below(random, self.max_length - self.min_length + 1)
            bits = pick_many(random, "01", length)
            source = " ".join(bits)
            yield Pair(source, str(bits.count("1") % 2)) if split_of(source) == split else None
