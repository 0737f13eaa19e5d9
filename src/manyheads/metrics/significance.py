"""How sure a figure is, and what chance explains of a difference: intervals, paired tests, corrections.

All tests are paired: systems are compared sentence by sentence, since sentences differ in difficulty far more than
systems do in quality. All are two-sided, and seeded, so that a p-value can be reproduced.

| for | interval of 95 % | test |
|---|---|---|
| BLEU, chrF | bootstrap over sentences | paired bootstrap, both by sacreBLEU (`overlap`) |
| symbol error rate | bootstrap over sentences | paired bootstrap |
| exact match, word error rate | bootstrap over sentences | McNemar's exact test |

Bootstrap: draw as many sentences as there are, with replacement, and score them; do so a thousand times [Efron 1979;
for translation Koehn 2004]. McNemar: of the sentences that exactly one of two systems gets right, each has half of them
if they are equally good, so the probability of a split that is at least as uneven is that of as many fair coins.
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
    """Return the percentages [systems, samples] that resampled sentences give.

    Each system has a numerator and a denominator for each of the N sentences [N, 2]; its percentage is that of their
    sums, over the same drawn sentences for all systems.
    """
    generator = np.random.default_rng(seed)
    count = len(systems[0])
    found = np.empty((len(systems), samples))
    for sample in range(samples):
        drawn = np.bincount(generator.integers(count, size=count), minlength=count)  # how often each sentence
        for number, system in enumerate(systems):
            found[number, sample] = percentage(drawn @ system)
    return found


def percentage(sums: Floats) -> float:
    """Return a numerator in per cent of a denominator; nothing is 0 % of nothing."""
    return float(100.0 * sums[0] / max(1.0, sums[1]))


def interval(samples: Floats) -> tuple[float, float]:
    """Return the bounds between which the middle 95 % of the samples lie."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


def bootstrap_p_value(first: Floats, second: Floats, *, difference: float) -> float:
    """Return how probable a difference of this size is if there is none, by paired samples of two systems.

    The samples differ by the real difference and by chance. Without the real difference, their spread is what chance
    does; counted is how often it does as much. One is added on both sides, as the real samples are one of the draws.
    """
    chance = np.abs(first - second - difference)
    as_large = int((chance >= abs(difference) - 1e-9).sum())
    return (as_large + 1) / (len(chance) + 1)


def mcnemar(first: Flags, second: Flags) -> float:
    """Return the p-value of McNemar's exact test for two systems that are right or wrong on N sentences [N]."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    coins, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    return min(1.0, 2.0 * math.fsum(_coins_probability(coins, heads) for heads in range(fewer + 1)))


def _coins_probability(coins: int, heads: int) -> float:
    """Return how probable it is that so many of these fair coins show heads."""
    logarithm = math.lgamma(coins + 1) - math.lgamma(heads + 1) - math.lgamma(coins - heads + 1)
    return math.exp(logarithm - coins * math.log(2.0))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method, in their order.

    Of many comparisons, some look significant by chance. The smallest p-value is multiplied by their number, the next
    by one less, and so on, and none becomes smaller than the one before it.
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of a sample (n − 1 in the denominator)."""
    return float(np.mean(values)), float(np.std(values, ddof=1))
