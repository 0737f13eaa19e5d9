"""The ids of special tokens, as batches, searches and models use them."""

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
        """The ids that are never output: padding and start. The end token is output even if it is also the start."""
        return sorted({self.pad, self.start} - {self.end})
