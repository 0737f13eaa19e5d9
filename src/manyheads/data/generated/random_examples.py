"""Random examples: the same on every machine, and no example of one split in another.

Two rules hold for every task. The split of an example depends on the example, not on the random numbers: a hash of its
identity decides between train, valid and test, for any seed. And all random numbers come from `Random.random()`, the
only method whose numbers Python guarantees not to change between versions.
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

# A split has at least about a twentieth of all examples, so this many misses in a row mean that it is empty or
# exhausted: by chance, they happen once in 10^222 draws.
_MISSES_BEFORE_GIVING_UP = 10_000


class HasSource(Protocol):
    """An example, which is identified by its source."""

    @property
    def source(self) -> str:
        """The input of the example."""
        ...


Item = TypeVar("Item")
AnyExample = TypeVar("AnyExample", bound=HasSource)


def split_of(identity: str, *, train: float = _TRAIN_SHARE) -> Split:
    """Return the split of the example with this identity.

    `train` is the share of the training split; valid and test have half of the rest each.
    """
    digest = hashlib.sha256(identity.encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    if share < train:
        return "train"
    return "valid" if share < (1.0 + train) / 2.0 else "test"


def seeded_random(task: str, split: Split, seed: int) -> Random:
    """Return a random number generator for one split of one task; each seed and each split has its own."""
    return Random(f"{task}/{split}/{seed}")  # Random hashes a string with SHA-512: the same on every machine


def random_below(random: Random, limit: int) -> int:
    """Return a random whole number from 0 to `limit` − 1."""
    return int(random.random() * limit)


def pick(random: Random, items: Sequence[Item]) -> Item:
    """Return one of the items, each with the same probability."""
    return items[random_below(random, len(items))]


def pick_many(random: Random, items: Sequence[Item], count: int) -> list[Item]:
    """Return `count` items, each drawn as by `pick`; a faster loop, because large corpora spend most time here."""
    draw, limit = random.random, len(items)
    return [items[int(draw() * limit)] for _ in range(count)]


def collect(proposals: Iterator[AnyExample | None], *, task: str, split: Split, count: int) -> Iterator[AnyExample]:
    """Return the first `count` examples of an endless iterator, in which None is a rejected draw.

    Training examples may repeat. Held-out examples do not, so that none is scored twice. If the split has too few
    distinct examples, the iteration ends with a `ManyheadsError` instead of searching forever.
    """
    if split not in SPLITS:
        raise ManyheadsError(
            f"there is no split '{split}'.", where=f"task '{task}'", cure=did_you_mean(str(split), SPLITS)
        )
    if count < 0:
        raise ManyheadsError(f"{count} pairs were asked for.", where=f"task '{task}'", cure="Ask for 0 or more.")
    return _collect(proposals, task=task, split=split, count=count)


def _collect(proposals: Iterator[AnyExample | None], *, task: str, split: Split, count: int) -> Iterator[AnyExample]:
    """Yield the examples of `collect`, whose arguments are checked before the iteration."""
    seen: set[str] = set()
    found = misses = 0
    while found < count:
        example = next(proposals)
        if example is None or example.source in seen:
            misses += 1
            if misses == _MISSES_BEFORE_GIVING_UP:
                raise _too_few(task, split, asked=count, found=found)
            continue
        if split != "train":
            seen.add(example.source)
        found += 1
        misses = 0
        yield example


def _too_few(task: str, split: Split, *, asked: int, found: int) -> ManyheadsError:
    """Return the error for a split with too few distinct examples."""
    fewer = f"Ask for {found} or fewer, or make" if found else "Make"
    return ManyheadsError(
        f"the {split} split has too few different examples: {asked} were asked for, {found} were found.",
        where=f"task '{task}'",
        cure=f"{fewer} the task larger by its options.",
    )
