"""The ids of special tokens, in the one form that batches, searches and models share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SpecialIds:
    """The ids of padding, unknown pieces, and the start and the end of a target."""

    pad: int = 0
    unknown: int = 1
    start: int = 2
    end: int = 3

    @property
    def never(self) -> list[int]:
        """The ids that are never output: padding and start. The end token is output even where it is the start too."""
        return sorted({self.pad, self.start} - {self.end})
