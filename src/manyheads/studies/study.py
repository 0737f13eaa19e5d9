"""The contract of a study: a question, a grid of things to measure, and what follows from the measurements.

A study is one file with one class. The bench calls `measure` for every item of the grid, in any order and in any
process, keeps each record as JSON, and gives all of them to `conclude`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from manyheads.studies.conclusion import Conclusion

Record = Mapping[str, Any]
"""What was measured of an item, as JSON has it: numbers, texts, lists and mappings by text."""


@dataclass(frozen=True)
class Item(ABC):
    """A run or a measurement of a study; its fields say everything that its record depends on."""

    @property
    @abstractmethod
    def key(self) -> str:
        """The name of the item in its study, which is a name of a file too."""


I = TypeVar("I", bound=Item)  # noqa: E741


@dataclass(frozen=True)
class Measured(Generic[I]):
    """An item and its record."""

    item: I
    record: Record


class Study(ABC, Generic[I]):
    """A question that measurements answer."""

    name: ClassVar[str]
    question: ClassVar[str]
    seconds: ClassVar[float]
    """The time that the whole study takes on one core, roughly."""
    quick_seconds: ClassVar[float]
    """The same with `--quick`."""

    @abstractmethod
    def items(self, *, quick: bool) -> Sequence[I]:
        """Return what is to be measured; `quick` gives a small grid that shows the same on a smaller scale."""

    @abstractmethod
    def measure(self, item: I, folder: Path) -> Record:
        """Return the record of an item; it is a function of the item alone, times aside.

        `folder` is for what the item leaves behind, such as a run, and does not exist at first. If the study was
        stopped, it has what an earlier process left there.
        """

    @abstractmethod
    def conclude(self, measured: Sequence[Measured[I]]) -> Conclusion:
        """Return what follows from the records of all items, which come in the order of `items`."""
