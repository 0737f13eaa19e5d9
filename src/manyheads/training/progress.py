"""What a person sees while a model trains: a bar with loss, speed and time left; scores and samples as they come.

On a terminal the bar moves. Elsewhere (a log file, a pipe) there is a line after the first seconds, then one for each
validation.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from manyheads.metrics.scores import Score
from manyheads.tasks.interface import Validation

FIRST_NEWS = 5.0  # seconds of training after which something is shown at the latest


def duration(seconds: float) -> str:
    """Return a time in the units that suit it: 45 s, 12 min 30 s, 3 h 20 min, 4,072 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes} min {whole % 60:02d} s"
    hours = minutes // 60
    return f"{hours} h {minutes % 60:02d} min" if hours < 100 else f"{hours:,} h"


class Reporter:
    """Tells a person how training goes, on standard error; a quiet one says nothing."""

    def __init__(self, console: Console | None = None, *, quiet: bool = False) -> None:
        self.console = console or Console(stderr=True, highlight=False, quiet=quiet)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._steps = 0
        self._begun: float | None = None  # when training began, until the first news of it

    def begin(self, step: int, steps: int) -> None:
        """Start the bar at some step."""
        self._steps, self._begun = steps, time.monotonic()
        if not self.console.is_terminal or self.console.quiet:
            return
        self._bar = Progress(
            TextColumn("[bold]training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self.console,
        )
        self._bar.start()
        self._task = self._bar.add_task("training", total=steps, completed=step, facts="")

    def note(self, text: str) -> None:
        """Say one thing."""
        self.console.print(text, markup=False, soft_wrap=True)

    @property
    def is_overdue(self) -> bool:
        """Whether training has gone on for some seconds without any news of it."""
        return self._begun is not None and time.monotonic() - self._begun >= FIRST_NEWS

    def update(self, step: int, facts: str) -> None:
        """Move the bar, or show the first line where there is none; `facts` is rate, loss, speed and time left."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=step, facts=facts)
        elif self._begun is not None:
            self.note(f"step {step:,} of {self._steps:,} · {facts}")
        self._begun = None

    def validated(self, step: int, steps: int, validation: Validation, *, facts: str, best: bool) -> None:
        """Show scores and samples."""
        scores = " · ".join(_named(score) for score in (validation.score, *validation.others))
        star = " · best so far" if best else ""
        self._begun = None
        self.note(f"step {step:,} of {steps:,} · {scores}{star} · {facts}")
        for sample in validation.samples:
            self.note(f"    {sample.source}\n  → {sample.output}\n  = {sample.reference}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _named(score: Score) -> str:
    """Return a score with its name; the loss is told apart from that of training, which stands on the same line."""
    return f"validation {score}" if score.name == "loss" else str(score)
