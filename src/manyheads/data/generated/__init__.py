"""Generated data: tasks whose examples need no download, and whose answers are right by construction.

>>> for source, target in task("addition", max_digits=3).pairs("test", count=2):
...     print(source, "=", target)
304+903 = 1207
275+5 = 280

Every task is a small dataclass of options, with a method `pairs` (or `examples`, for labels and answers). The same
arguments give the same pairs on every machine, and no example of one split occurs in another, for any seeds.

| file | what it is |
|---|---|
| `sequences` | copy, reverse, sort and duplicate |
| `arithmetic` | addition, decimal and binary |
| `parity` | whether the number of ones is odd |
| `recall` | the values of keys |
| `programs` | programs in a small language, and what they print |
| `dates` | dates in many languages, rewritten in ISO 8601 |
| `date_forms` | how a date is written in each locale, and which texts are ambiguous |
| `listops` | nested lists to evaluate (labels) |
| `kinds` | nouns to classify (labels) |
| `whereabouts` | questions about a story (answers) |
| `random_examples` | reproducible random examples, and their split |
| `options` | checks of a task's options |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Protocol

from manyheads.data.generated.arithmetic import Addition, BinaryAddition
from manyheads.data.generated.dates import Dates
from manyheads.data.generated.options import option_error
from manyheads.data.generated.parity import Parity
from manyheads.data.generated.programs import Programs
from manyheads.data.generated.random_examples import Split
from manyheads.data.generated.recall import Recall
from manyheads.data.generated.sequences import Copy, Duplicate, Reverse, Sort
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError, did_you_mean

__all__ = [
    "Addition",
    "BinaryAddition",
    "Copy",
    "Dates",
    "Duplicate",
    "Parity",
    "Programs",
    "Recall",
    "Reverse",
    "Sort",
    "Split",
    "Task",
    "task",
    "task_names",
]

_TASKS = {
    kind.name: kind
    for kind in (Copy, Reverse, Sort, Duplicate, Addition, BinaryAddition, Parity, Recall, Programs, Dates)
}


class Task(Protocol):
    """A task that generates pairs."""

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""


def task_names() -> tuple[str, ...]:
    """Return the names that `task` accepts."""
    return tuple(_TASKS)


def task(name: str, **options: object) -> Task:
    """Return the task of this name; its options are the fields of its class."""
    if name not in _TASKS:
        raise ManyheadsError(f"there is no task '{name}'.", cure=did_you_mean(name, _TASKS))
    kind = _TASKS[name]
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            raise option_error(name, option, "there is no such option.", did_you_mean(option, known))
    build: Callable[..., Task] = kind  # each class checks the values of its own options
    return build(**options)
