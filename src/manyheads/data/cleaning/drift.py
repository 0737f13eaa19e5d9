"""Where two parallel files that have lost their balance start to drift apart.

A translation is about as long as its source, give or take a constant factor. Up to the missing line, line i matches
line i; behind it, line i matches line i + d. The best place to switch from one to the other is where they drift.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CLEARLY_BETTER = 0.75  # the shifted rest must mismatch less than this share of the unshifted rest to be believed
FEWEST_LINES = 8  # behind the drift; fewer prove nothing


def drift_line(source: Sequence[str], target: Sequence[str]) -> int | None:
    """Return the line (from 1) near which two texts of unequal length drift apart, or None if it cannot be told."""
    longer, shorter = (source, target) if len(source) > len(target) else (target, source)
    missing = len(longer) - len(shorter)
    if len(shorter) < 2 * FEWEST_LINES:
        return None
    long_sizes, short_sizes = _log_lengths(longer), _log_lengths(shorter)
    together = _mismatch(long_sizes[: len(shorter)], short_sizes)
    shifted = _mismatch(long_sizes[missing:], short_sizes)
    # costs[p]: lines before p matched as they stand, lines from p on matched shifted.
    costs = np.concatenate([[0.0], together.cumsum()]) + np.concatenate([shifted[::-1].cumsum()[::-1], [0.0]])
    place = int(costs.argmin())
    rest = len(shorter) - place
    if rest < FEWEST_LINES or shifted[place:].sum() >= CLEARLY_BETTER * together[place:].sum():
        return None
    return place + 1


def _log_lengths(lines: Sequence[str]) -> NDArray[np.float64]:
    """Return the logarithm of each line's length."""
    return np.log1p(np.array([len(line) for line in lines], dtype=np.float64))


def _mismatch(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each pair's ratio of lengths is from the usual one."""
    ratio = left - right
    mismatch: NDArray[np.float64] = np.abs(ratio - np.median(ratio))
    return mismatch
