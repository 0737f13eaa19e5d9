"""Pairs one side of which is far longer than usual for the other.

Lengths are in bytes of UTF-8, where a Chinese character is three and a Latin letter one: that is nearly what they are
worth, so a Chinese sentence full of English names is as long as one without. What remains of the difference between two
languages is measured, and the limit is a factor around it. It is tighter for long texts, whose lengths vary less.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from manyheads.data.text.records import Pair

SHORT = 12  # bytes; below it, lengths vary too much for balance to mean anything
TIGHTER = 25  # from this length on the limit is tightened,
TIGHTEST = 225  # up to this one


def usual_ratio(pairs: Iterable[Pair]) -> float:
    """Return the median ratio of source to target length."""
    ratios = [_size(source) / _size(target) for source, target in pairs if source and target]
    return statistics.median(ratios) if ratios else 1.0


class Balance:
    """Knows which ratio of lengths is usual, and how many times that a short text may have."""

    def __init__(self, *, usual: float, limit: float) -> None:
        self._usual = usual
        self._limit = limit

    def is_unbalanced(self, source: str, target: str) -> bool:
        """Whether the ratio of lengths is further from the usual one than the limit allows."""
        ours, theirs = _size(source), _size(target) * self._usual
        longer = max(ours, theirs)
        return longer >= SHORT and longer / min(ours, theirs) > self._allowed(longer)

    def _allowed(self, size: float) -> float:
        """Return the limit for a text of this size: with a limit of 4, 2.5 at 100 bytes and 2 above 225."""
        return 1 + (self._limit - 1) * math.sqrt(TIGHTER / min(max(size, TIGHTER), TIGHTEST))


def _size(text: str) -> int:
    """Return the length in bytes."""
    return len(text.encode("utf-8", "replace"))
