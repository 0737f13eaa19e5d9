"""Intervals, exponents, effects and the noise floor of studies, against what is known of made-up samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manyheads.studies.statistics import bootstrapped, effects, fitted_exponent, mean_estimate, noise_floor, welch


def normal(mean: float, count: int, seed: int) -> list[float]:
    return list(np.random.default_rng(seed).normal(mean, 1.0, count))


def test_a_power_law_has_its_exponent_and_points_beside_it_make_it_uncertain():
    x = np.array([100.0, 200.0, 400.0, 800.0])
    y = 3.0 * x**1.7
    exact, uncertain = (
        bootstrapped(lambda points: fitted_exponent(*points.T), np.column_stack((x, values)))
        for values in (y, y * [1.0, 1.1, 0.9, 1.0])
    )
    assert (exact.value, exact.low, exact.high) == pytest.approx((1.7, 1.7, 1.7))
    assert uncertain.low < 1.6 < 1.7 < uncertain.high
    assert math.isnan(fitted_exponent([5.0, 5.0], [1.0, 2.0]))


def test_intervals_hold_the_mean_as_often_as_they_say():
    trials = [mean_estimate(normal(5.0, 50, seed)) for seed in range(60)]
    held = sum(one.low <= 5.0 <= one.high for one in trials)
    assert 60 * 0.8 < held < 60  # 95 % of them, give or take


def test_welch_finds_what_the_tables_of_students_distribution_say():
    """Two samples of equal size and variance have 2n − 2 degrees of freedom; t at 5 % with 8 is 2.306."""
    first = [-2.0, -1.0, 0.0, 1.0, 2.0]
    distance = 2.306 * math.sqrt(2 * np.var(first, ddof=1) / len(first))
    assert welch(first, [one + distance for one in first]) == pytest.approx(0.05, abs=0.003)
    assert welch(first, first) == 1.0
    assert welch([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert welch([1.0, 1.0], [2.0, 2.0]) == 0.0


def test_an_effect_is_found_and_chance_is_not_even_among_many_variants():
    variants = {f"same-{seed}": normal(0.0, 5, seed) for seed in range(20)} | {"better": normal(6.0, 5, 99)}
    found = {one.variant: one for one in effects(normal(0.0, 8, 77), variants)}
    assert [name for name, one in found.items() if one.is_significant] == ["better"]
    difference = found["better"].difference
    assert difference.low < 6.0 < difference.high


def test_a_noise_floor_needs_five_seeds():
    assert noise_floor([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(math.sqrt(2.5))
    with pytest.raises(AssertionError):
        noise_floor([1.0, 2.0, 3.0, 4.0])
