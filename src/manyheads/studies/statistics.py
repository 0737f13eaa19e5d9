"""How certain a result is: the noise floor, bootstrap intervals, and effects corrected for their number.

noise floor    the standard deviation of what the same recipe gives with other seeds, from at least five of them
interval       the middle 95 % of what samples drawn with replacement give [Efron 1979]
effect         the mean of a variant minus that of the baseline. Its p-value is that of Welch's t-test, for samples
               of unequal size and variance, after Holm's correction for the number of variants
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyheads.metrics.significance import SAMPLES, SEED, SIGNIFICANT, holm, interval, mean_and_deviation

LEAST_SEEDS = 5  # of a baseline, whose spread is the noise floor
T_SAMPLES = 200_000  # of Student's distribution, for p-values

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return "{} [{}, {}]".format(*(f"{one:#.3g}".rstrip(".") for one in (self.value, self.low, self.high)))


@dataclass(frozen=True)
class Effect:
    """What a variant changes, and the corrected p-value of no change."""

    variant: str
    difference: Estimate
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.p_value < SIGNIFICANT


def noise_floor(baseline: Sequence[float]) -> float:
    """Return the standard deviation of a baseline's scores, one for each seed."""
    assert len(baseline) >= LEAST_SEEDS, "a noise floor needs more seeds"
    return mean_and_deviation(baseline)[1]


def mean_estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of values with its bootstrap interval."""
    return bootstrapped(lambda drawn: float(np.mean(drawn)), np.asarray(values, dtype=np.float64))


def fitted_exponent(x: ArrayLike, y: ArrayLike) -> float:
    """Return the b of y = a·x^b by least squares of the logarithms; NaN if all x are the same."""
    first, second = np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64))
    first = first - first.mean()
    variance = float(first @ first)
    return float(first @ second) / variance if variance > 1e-12 else math.nan


def bootstrapped(fit: Callable[[Floats], float], points: Floats) -> Estimate:
    """Return what `fit` gives for points [N, …], with the interval of what it gives for N of them drawn at random.

    Draws that `fit` cannot use, for which it returns NaN, do not count.
    """
    generator = np.random.default_rng(SEED)
    draws = generator.integers(len(points), size=(SAMPLES, len(points)))
    fitted = np.array([fit(points[draw]) for draw in draws])
    low, high = interval(fitted[np.isfinite(fitted)])
    return Estimate(fit(points), low, high)


def effects(baseline: Sequence[float], variants: Mapping[str, Sequence[float]]) -> list[Effect]:
    """Compare the scores of variants, one for each seed, with those of the baseline."""
    p_values = holm([welch(scores, baseline) for scores in variants.values()])
    return [
        Effect(name, _difference(scores, baseline), p_value)
        for (name, scores), p_value in zip(variants.items(), p_values, strict=True)
    ]


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the p-value of Welch's t-test, two-sided, for samples of at least two values each."""
    (mean, deviation), (other_mean, other_deviation) = map(mean_and_deviation, (first, second))
    one, other = deviation**2 / len(first), other_deviation**2 / len(second)
    if one + other == 0.0:
        return 1.0 if mean == other_mean else 0.0
    freedom = (one + other) ** 2 / (one**2 / (len(first) - 1) + other**2 / (len(second) - 1))
    chance = np.abs(np.random.default_rng(SEED).standard_t(freedom, size=T_SAMPLES))
    as_large = int((chance >= abs(mean - other_mean) / math.sqrt(one + other)).sum())
    return (as_large + 1) / (T_SAMPLES + 1)


def _difference(scores: Sequence[float], baseline: Sequence[float]) -> Estimate:
    """Return the difference of two means with its bootstrap interval; both samples are drawn again."""
    generator = np.random.default_rng(SEED)
    first, second = (np.asarray(values, dtype=np.float64) for values in (scores, baseline))
    drawn, other = (generator.choice(values, size=(SAMPLES, len(values))).mean(axis=1) for values in (first, second))
    return Estimate(float(first.mean() - second.mean()), *interval(drawn - other))
