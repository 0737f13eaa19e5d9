"""How examples are drawn at random: the same everywhere, and with no example of one split in another.

Two rules serve every task. A split belongs to the example, not to the draw: a hash of what identifies it puts
it into train, valid or test, whatever the seed. And chance comes from `Random.random()` alone, the one method
whose numbers Python promises not to change from version to version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal, Protocol, TypeVar, get_args

from manyheads.errors import ManyheadsError, did_you_mean

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_TRAIN_SHARE = 0.90

# A split holds about a twentieth of all examples or more, so this many misses in a row mean that it is
# empty or used up: chance alone brings them once in 10^222 draws.
_MISSES_BEFORE_GIVING_UP = 10_000


class Drawn(Protocol):
    """Whatever is drawn: it has a source, by which two of them are told apart."""

    @property
    def source(self) -> str:
        """What is given; the rest is to be found."""
        ...


Item = TypeVar("Item")
One = TypeVar("One", bound=Drawn)


def split_of(identity: str, *, train: float = _TRAIN_SHARE) -> Split:
    """Return the split of the example with this identity: train for 90 %, valid and test for half of the rest each."""
    digest = hashlib.sha256(identity.encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    if share < train:
        return "train"
    return "valid" if share < (1.0 + train) / 2.0 else "test"


def source_of_chance(task: str, split: Split, seed: int) -> Random:
    """Return the random numbers for one split of one task; each seed and each split has its own."""
    return Random(f"{task}/{split}/{seed}")  # Random takes the SHA-512 of a text: the same on every machine


def number_below(random: Random, limit: int) -> int:
    """Return a whole number from 0 up to, and without, the limit."""
    return int(random.random() * limit)


def pick(random: Random, items: Sequence[Item]) -> Item:
    """Return one of the items, each as likely as the others."""
    return items[number_below(random, len(items))]


def pick_many(random: Random, items: Sequence[Item], count: int) -> list[Item]:
    """Return as many items, each drawn as `pick` does; a corpus of millions spends most of its time here."""
    draw, limit = random.random, len(items)
    return [items[int(draw() * limit)] for _ in range(count)]


def collect(proposals: Iterator[One | None], *, task: str, split: Split, count: int) -> Iterator[One]:
    """Return the first `count` pairs of endless proposals, in which None is a draw that had to be refused.

    Training pairs may repeat; held-out pairs do not, so that no example is scored twice. Where the split
    has too few different members the iteration ends in a `ManyheadsError`, never in an endless search.
    """
    if split not in SPLITS:
        raise ManyheadsError(
            f"there is no split '{split}'.", where=f"task '{task}'", cure=did_you_mean(str(split), SPLITS)
        )
    if count < 0:
        raise ManyheadsError(f"{count} pairs were asked for.", where=f"task '{task}'", cure="Ask for 0 or more.")
    return _collect(proposals, task=task, split=split, count=count)


def _collect(proposals: Iterator[One | None], *, task: str, split: Split, count: int) -> Iterator[One]:
    seen: set[str] = set()
    found = misses = 0
    while found < count:
        pair = next(proposals)
        if pair is None or pair.source in seen:
            misses += 1
            if misses == _MISSES_BEFORE_GIVING_UP:
                raise _too_few(task, split, asked=count, found=found)
            continue
        if split != "train":
            seen.add(pair.source)
        found += 1
        misses = 0
        yield pair


def _too_few(task: str, split: Split, *, asked: int, found: int) -> ManyheadsError:
    fewer = f"Ask for {found} or fewer, or make" if found else "Make"
    return ManyheadsError(
        f"the {split} split has too few different examples: {asked} were asked for, {found} were found.",
        where=f"task '{task}'",
        cure=f"{fewer} the task larger by its options.",
    )
