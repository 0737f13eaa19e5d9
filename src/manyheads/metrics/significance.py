"""Confidence intervals, paired significance tests, and corrections for multiple comparisons.

All tests are paired: systems are compared sentence by sentence, because sentences differ in difficulty far more than
systems do in quality. All tests are two-sided, and seeded, so that a p-value is reproducible.

| for | 95 % interval | test |
|---|---|---|
| BLEU, chrF | bootstrap over sentences | paired bootstrap, both by sacreBLEU (`overlap`) |
| symbol error rate | bootstrap over sentences | paired bootstrap |
| exact match, word error rate | bootstrap over sentences | McNemar's exact test |

Bootstrap: draw N of the N sentences with replacement and score them, a thousand times [Efron 1979; for translation
Koehn 2004]. McNemar: consider the sentences that exactly one of two systems gets right. If the systems are equally
good, each of these sentences is a fair coin toss between them, so the p-value is the binomial probability of a split
that is at least as uneven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1000
SEED = 12345
SIGNIFICANT = 0.05

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def bootstrap(systems: Sequence[Floats], *, samples: int = SAMPLES, seed: int = SEED) -> Floats:
    """Return the percentage of each system on each bootstrap sample [systems, samples].

    Each system has a numerator and a denominator per sentence [N, 2]; its percentage is the ratio of their sums. All
    systems are scored on the same samples.
    """
    generator = np.random.default_rng(seed)
    count = len(systems[0])
    percentages = np.empty((len(systems), samples))
    for sample in range(samples):
        drawn = np.bincount(generator.integers(count, size=count), minlength=count)  # how often each sentence is drawn
        for number, system in enumerate(systems):
            percentages[number, sample] = percentage(drawn @ system)
    return percentages


def percentage(sums: Floats) -> float:
    """Return a numerator as a percentage of a denominator; 0 if both are 0."""
    return float(100.0 * sums[0] / max(1.0, sums[1]))


def interval(samples: Floats) -> tuple[float, float]:
    """Return the bounds of the middle 95 % of the samples."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


def bootstrap_p_value(first: Floats, second: Floats, *, difference: float) -> float:
    """Return the p-value of a difference between two systems, from their paired bootstrap samples.

    The difference between two samples is the real difference plus chance. Subtracting the real difference leaves the
    part due to chance; the p-value is how often that is at least as large as the real difference. One is added to the
    numerator and the denominator, because the observed data counts as one of the samples.
    """
    chance = np.abs(first - second - difference)
    as_large = int((chance >= abs(difference) - 1e-9).sum())
    return (as_large + 1) / (len(chance) + 1)


def mcnemar(first: Flags, second: Flags) -> float:
    """Return the p-value of McNemar's exact test for two systems, each right or wrong on N sentences [N]."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    coins, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    return min(1.0, 2.0 * math.fsum(_coins_probability(coins, heads) for heads in range(fewer + 1)))


def _coins_probability(coins: int, heads: int) -> float:
    """Return the probability of this number of heads in this number of fair coin tosses."""
    logarithm = math.lgamma(coins + 1) - math.lgamma(heads + 1) - math.lgamma(coins - heads + 1)
    return math.exp(logarithm - coins * math.log(2.0))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction for multiple comparisons, in their original order.

    Of many comparisons, some look significant by chance. The smallest of n p-values is multiplied by n, the next by
    n − 1, and so on, and none becomes smaller than the one before it.
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of a sample (n − 1 in the denominator)."""
    return float(np.mean(values)), float(np.std(values, ddof=1))
