"""What is shown while a model trains: the present step with loss, speed and time left; scores and samples as they come.

On a terminal the step is a bar, and in a notebook a line that is updated in place. Elsewhere (a log file, a pipe) there
is a line after the first seconds, then one for each validation.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from manyheads.metrics.scores import Score
from manyheads.tasks.interface import Validation

if TYPE_CHECKING:
    from manyheads.training.summary import Summary
    from manyheads.training.trainer import Outcome

FIRST_NEWS = 5.0  # seconds of training after which something is shown at the latest


def duration(seconds: float) -> str:
    """Return a time in suitable units: 45 s, 12 min 30 s, 3 h 20 min, 4,072 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes} min {whole % 60:02d} s"
    hours = minutes // 60
    return f"{hours} h {minutes % 60:02d} min" if hours < 100 else f"{hours:,} h"


def in_notebook() -> bool:
    """Whether a notebook runs this process. IPython, which knows, is not imported here: a notebook imports it first."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Status(Protocol):
    """The present step, shown in one place that changes."""

    def update(self, step: int, facts: str) -> None:
        """Show a step; `facts` is rate, loss, speed and time left."""
        ...

    def close(self) -> None:
        """Stop updating."""
        ...


class TerminalStatus:
    """The present step as a bar that moves."""

    def __init__(self, console: Console, step: int, steps: int) -> None:
        self._bar = Progress(
            TextColumn("[bold]training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=console,
        )
        self._bar.start()
        self._task = self._bar.add_task("training", total=steps, completed=step, facts="")

    def update(self, step: int, facts: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=step, facts=facts)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


class NotebookStatus:
    """The present step as a line of a cell's output, updated in place."""

    def __init__(self, step: int, steps: int) -> None:
        from IPython.display import display

        self._steps = steps
        self._handle = display({"text/plain": _line(step, steps)}, raw=True, display_id=True)

    def update(self, step: int, facts: str) -> None:
        """Replace the line."""
        self._handle.update({"text/plain": _line(step, self._steps, facts)}, raw=True)

    def close(self) -> None:
        """Leave the line as it is."""


class Reporter:
    """Shows the progress of training in a notebook or on standard error; with `quiet`, it shows nothing.

    After a training, `outcome` says how it ended, and `summary` what came of it, if it was neither interrupted nor
    finished before.
    """

    outcome: Outcome | None = None
    summary: Summary | None = None

    def __init__(self, console: Console | None = None, *, quiet: bool = False) -> None:
        self.console = console or Console(stderr=True, highlight=False, quiet=quiet, force_jupyter=in_notebook())
        self._status: Status | None = None
        self._steps = 0
        self._begun: float | None = None  # when training began, until something is shown of it

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is shown."""
        return self.console.quiet

    def begin(self, step: int, steps: int) -> None:
        """Start at a step."""
        self._steps, self._begun = steps, time.monotonic()
        if self.console.quiet:
            return
        if self.console.is_jupyter:
            self._status = NotebookStatus(step, steps)
        elif self.console.is_terminal:
            self._status = TerminalStatus(self.console, step, steps)

    def note(self, text: str) -> None:
        """Show a line."""
        self.console.print(text, markup=False, soft_wrap=True)

    @property
    def is_overdue(self) -> bool:
        """Whether nothing was shown of the first seconds of training."""
        return self._begun is not None and time.monotonic() - self._begun >= FIRST_NEWS

    def update(self, step: int, facts: str) -> None:
        """Show the present step; in a log, only the first time. `facts` is rate, loss, speed and time left."""
        if self._status is not None:
            self._status.update(step, facts)
        elif self._begun is not None:
            self.note(_line(step, self._steps, facts))
        self._begun = None

    def validated(self, step: int, steps: int, validation: Validation, *, facts: str, best: bool) -> None:
        """Show scores and samples."""
        scores = [_named(score) for score in (validation.score, *validation.others)]
        self._begun = None
        self.note(_line(step, steps, *scores, *(["best so far"] if best else []), facts))
        for sample in validation.samples:
            self.note(f"    {sample.source}\n  → {sample.output}\n  = {sample.reference}")

    def concluded(self, summary: Summary) -> None:
        """Show what came of the training, and keep it."""
        self.summary = summary
        self.note(str(summary))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.close()


def _line(step: int, steps: int, *facts: str) -> str:
    """Return a step and facts about it as one line."""
    return " · ".join([f"step {step:,} of {steps:,}", *facts])


def _named(score: Score) -> str:
    """Return a score with its name; a loss is named validation loss, since the line has the training loss too."""
    return f"validation {score}" if score.name == "loss" else str(score)
