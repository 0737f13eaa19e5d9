"""Detects pairs of which one side is far longer than usual for the other.

Lengths are in bytes of UTF-8, where a Chinese character has three and a Latin letter one. This is close to how much
text they stand for, so English names in a Chinese sentence make little difference. The remaining ratio between two
languages is measured, and the limit is a factor above and below it. The limit is tighter for long texts, whose lengths
vary less.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from manyheads.data.text.records import Pair

SHORT = 12  # bytes; lengths of shorter texts vary too much to be compared
TIGHTER = 25  # bytes; the limit becomes tighter from this length
TIGHTEST = 225  # to this length


def usual_ratio(pairs: Iterable[Pair]) -> float:
    """Return the median ratio of source to target length."""
    ratios = [_size(source) / _size(target) for source, target in pairs if source and target]
    return statistics.median(ratios) if ratios else 1.0


class Balance:
    """Compares the ratio of lengths with the usual one; `limit` is the factor allowed for short texts."""

    def __init__(self, *, usual: float, limit: float) -> None:
        self._usual = usual
        self._limit = limit

    def is_unbalanced(self, source: str, target: str) -> bool:
        """Return whether the ratio of lengths differs from the usual one by more than the limit."""
        source_size, target_size = _size(source), _size(target) * self._usual
        longer = max(source_size, target_size)
        return longer >= SHORT and longer / min(source_size, target_size) > self._allowed(longer)

    def _allowed(self, size: float) -> float:
        """Return the limit for a text of this size: with a limit of 4, 2.5 at 100 bytes and 2 above 225."""
        return 1 + (self._limit - 1) * math.sqrt(TIGHTER / min(max(size, TIGHTER), TIGHTEST))


def _size(text: str) -> int:
    """Return the length in bytes."""
    return len(text.encode("utf-8", "replace"))
