"""A study that measures in no time, and whose process can be killed at a chosen item."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from manyheads.studies.conclusion import Conclusion, Curve, HeatMap, Panel, Table
from manyheads.studies.study import Item, Measured, Record, Study


@dataclass(frozen=True)
class Number(Item):
    number: int

    @property
    def key(self) -> str:
        return f"number-{self.number}"


@dataclass(frozen=True)
class Squares(Study[Number]):
    name: ClassVar[str] = "squares"
    question: ClassVar[str] = "How large are squares?"
    seconds: ClassVar[float] = 2.0
    quick_seconds: ClassVar[float] = 1.0

    killed_at: int | None = None
    """The number whose measurement kills the process, the first time."""
    broken_at: int | None = None
    numbers: tuple[int, ...] = field(default=tuple(range(1, 7)))

    def items(self, *, quick: bool) -> Sequence[Number]:
        return [Number(number) for number in self.numbers[: 3 if quick else None]]

    def measure(self, item: Number, folder: Path) -> Record:
        folder.mkdir(parents=True, exist_ok=True)
        times = len(list(folder.iterdir()))
        (folder / str(times)).touch()
        if item.number == self.killed_at and times == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if item.number == self.broken_at:
            raise ArithmeticError(item.key)
        return {"square": item.number**2, "halves": (item.number / 2,), "process": os.getpid()}

    def conclude(self, measured: Sequence[Measured[Number]]) -> Conclusion:
        x, y = zip(*((float(one.item.number), float(one.record["square"])) for one in measured), strict=True)
        rows = tuple((one.item.number, one.record["square"]) for one in measured)
        return Conclusion(
            (f"The largest is {max(y):g}.", "That is certain."),
            (Table("Squares", ("number", "square"), rows),),
            (
                Panel("squares", "number", "square", (Curve("all", x, y, low=y, high=y),), log_x=True, log_y=True),
                HeatMap("the same", "number", "", (x, y)),
            ),
        )
