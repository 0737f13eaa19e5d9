"""The exception for all mistakes of users, and the category of warnings.

A mistake in a path, a line or a key raises `ManyheadsError` with three facts: what happened, where, and what to do.
The command prints exactly that and exits with status 2; `--debug` shows the traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Notice(FutureWarning):
    """A warning for users that does not stop the command, which prints it as one line."""


class ManyheadsError(Exception):
    """A mistake that the user can correct: what happened, where (file, line or key), and what to do."""

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
    """Return 'Did you mean …?' for the most similar known word, or the list of known words if none is similar."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean '{near[0]}'?"
    return f"Known: {', '.join(names)}." if names else ""
