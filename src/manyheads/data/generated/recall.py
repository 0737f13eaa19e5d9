"""Associative recall: keys with their values, then the keys in another order, whose values are the answer.

    c x  a q  b p   b c a   →   p x q

It is the recall with many queries of Arora et al. (2023, "Zoology"): keys and values are different symbols, each occurs
at most once among the pairs, and every key is asked for once. Zoology has other symbols between the queries; here there
are none, and the answers are a target of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from manyheads.data.generated.options import check_range, check_whole_number, option_error
from manyheads.data.generated.random_examples import Split, collect, random_below, seeded_random, split_of
from manyheads.data.generated.sequences import alphabet
from manyheads.data.text.records import Pair

_MOST_SYMBOLS = 338  # so that keys and values together have names of two letters


@dataclass(frozen=True)
class Recall:
    """Recall the values of `min_pairs` to `max_pairs` keys, of which there are `symbols`, and as many values."""

    name: ClassVar[str] = "recall"
    min_pairs: int = 1
    max_pairs: int = 8
    symbols: int = 64

    def __post_init__(self) -> None:
        bounds = {"least": ("min_pairs", self.min_pairs), "most": ("max_pairs", self.max_pairs)}
        check_range(self.name, **bounds, low=1, high=_MOST_SYMBOLS)
        check_whole_number(self.name, "symbols", self.symbols, low=2, high=_MOST_SYMBOLS)
        if self.symbols < self.max_pairs:
            what = f"{self.symbols} keys are too few for max_pairs, which is {self.max_pairs}."
            raise option_error(self.name, "symbols", what, "Give at least as many: each key occurs once.")

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        known = alphabet(2 * self.symbols)
        while True:
            count = self.min_pairs + random_below(random, self.max_pairs - self.min_pairs + 1)
            keys, values = (_draw(random, half, count) for half in (known[: self.symbols], known[self.symbols :]))
            value_of = dict(zip(keys, values, strict=True))
            asked = _draw(random, keys, count)
            source = " ".join([*(f"{key} {value}" for key, value in value_of.items()), *asked])
            target = " ".join(value_of[key] for key in asked)
            yield Pair(source, target) if split_of(source) == split else None


def _draw(random: Random, items: Sequence[str], count: int) -> list[str]:
    """Return different items in random order, each choice with the same probability, as Fisher and Yates shuffle."""
    left = list(items)
    for place in range(count):
        other = place + random_below(random, len(left) - place)
        left[place], left[other] = left[other], left[place]
    return left[:count]
