"""The one exception a user can cause, and the notices that stop nothing.

Whatever a user can get wrong (a path, a line, a key) raises `ManyheadsError` with three facts: what happened,
where, and what to do. The command prints exactly that and exits with status 2; `--debug` shows the traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Notice(FutureWarning):
    """Something a user should know, though it does not stop what was asked for; the command shows it as a line."""


class ManyheadsError(Exception):
    """A mistake that the user can mend: what happened, where (file, line or key), and what to do about it."""

    def __init__(self, what: str, *, where: str | None = None, cure: str | None = None) -> None:
        self.what = what
        self.where = where
        self.cure = cure
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cure = f" {self.cure}" if self.cure else ""
        return f"{place}{self.what}{cure}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return 'Did you mean …?' for the nearest of the known words, or the list of them where none is near."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean '{near[0]}'?"
    return f"Known: {', '.join(names)}." if names else ""
