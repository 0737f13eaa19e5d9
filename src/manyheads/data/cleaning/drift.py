"""Finds the line at which two files of unequal length stop being parallel.

The lengths of a translation and its source differ roughly by a constant factor. Before a missing line, line i matches
line i; after it, line i matches line i + d. The best line to switch from one to the other is where the drift begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CLEARLY_BETTER = 0.75  # after the drift, the mismatch with a shift must be below this share of that without a shift
FEWEST_LINES = 8  # after the drift; fewer are not enough evidence


def drift_line(source: Sequence[str], target: Sequence[str]) -> int | None:
    """Return the line (from 1) near which two texts of unequal length drift apart, or None if there is no evidence."""
    longer, shorter = (source, target) if len(source) > len(target) else (target, source)
    missing = len(longer) - len(shorter)
    if len(shorter) < 2 * FEWEST_LINES:
        return None
    long_sizes, short_sizes = _log_lengths(longer), _log_lengths(shorter)
    unshifted = _mismatch(long_sizes[: len(shorter)], short_sizes)
    shifted = _mismatch(long_sizes[missing:], short_sizes)
    # costs[p]: lines before p are matched without a shift, lines from p on with a shift.
    costs = np.concatenate([[0.0], unshifted.cumsum()]) + np.concatenate([shifted[::-1].cumsum()[::-1], [0.0]])
    start = int(costs.argmin())
    rest = len(shorter) - start
    if rest < FEWEST_LINES or shifted[start:].sum() >= CLEARLY_BETTER * unshifted[start:].sum():
        return None
    return start + 1


def _log_lengths(lines: Sequence[str]) -> NDArray[np.float64]:
    """Return the logarithm of each line's length."""
    return np.log1p(np.array([len(line) for line in lines], dtype=np.float64))


def _mismatch(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each pair's log ratio of lengths from the median."""
    ratio = left - right
    mismatch: NDArray[np.float64] = np.abs(ratio - np.median(ratio))
    return mismatch
