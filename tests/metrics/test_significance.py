"""Intervals, tests and corrections follow their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyheads.metrics.significance import (
    bootstrap,
    bootstrap_p_value,
    holm,
    interval,
    mcnemar,
    mean_and_deviation,
    percentage,
)

LAW = settings(deadline=None, derandomize=True)
flags = st.lists(st.booleans(), min_size=1, max_size=40)


def rates(right: list[bool]) -> np.ndarray:
    return np.array([(one, 1) for one in right], dtype=float)


# --- McNemar ---------------------------------------------------------------------------------------------------------


@LAW
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_mcnemar_counts_coins(pairs):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    more, fewer = sorted(sum(one and not other for one, other in rows) for rows in (pairs, [p[::-1] for p in pairs]))[
        ::-1
    ]
    coins = more + fewer
    by_definition = sum(math.comb(coins, k) for k in range(coins + 1) if abs(2 * k - coins) >= more - fewer) / 2**coins
    assert mcnemar(first, second) == pytest.approx(by_definition)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_mcnemar_survives_many_sentences():
    first = np.arange(200_000) % 2 == 0
    second = ~first
    assert mcnemar(first, second) == 1.0
    assert mcnemar(first, np.zeros_like(first)) == 0.0  # too small to be told from it


# --- Bootstrap -------------------------------------------------------------------------------------------------------


def test_the_samples_are_percentages_of_the_same_drawn_sentences():
    generator = np.random.default_rng(1)
    first = np.stack([generator.integers(0, 4, 30), generator.integers(4, 9, 30)], axis=1).astype(float)
    samples = bootstrap([first, 2 * first, first], samples=50)
    assert samples.shape == (3, 50)
    np.testing.assert_allclose(samples[0], samples[1])  # a ratio knows no scale
    np.testing.assert_array_equal(samples[0], samples[2])
    assert len(set(samples[0])) > 10
    np.testing.assert_array_equal(samples, bootstrap([first, 2 * first, first], samples=50))
    assert not np.array_equal(samples, bootstrap([first, 2 * first, first], samples=50, seed=2))


@LAW
@given(flags)
def test_an_interval_lies_around_the_score(right):
    counts = rates(right)
    low, high = interval(bootstrap([counts], samples=200)[0])
    assert 0.0 <= low <= high <= 100.0
    if len(set(right)) == 1:
        assert low == high == percentage(counts.sum(axis=0))


def test_an_interval_has_the_width_that_theory_gives():
    right = rates([i % 5 == 0 for i in range(2000)])
    low, high = interval(bootstrap([right])[0])
    expected = 2 * 1.96 * 100 * math.sqrt(0.2 * 0.8 / 2000)
    assert high - low == pytest.approx(expected, rel=0.1)
    assert low < 20.0 < high


def compared(first: list[bool], second: list[bool]) -> float:
    samples = bootstrap([rates(first), rates(second)], samples=300)
    return bootstrap_p_value(*samples, difference=100.0 * (np.mean(first) - np.mean(second)))


def test_equal_systems_seldom_differ_significantly_and_unequal_ones_do():
    generator = np.random.default_rng(7)
    equal = [compared(*(generator.random((2, 60)) < 0.6)) for _ in range(100)]
    assert sum(p < 0.05 for p in equal) <= 12  # five are expected
    unequal = [compared(generator.random(60) < 0.9, generator.random(60) < 0.4) for _ in range(10)]
    assert all(p < 0.05 for p in unequal)


@LAW
@given(flags, st.data())
def test_a_p_value_is_a_probability_and_symmetric(first, data):
    second = data.draw(st.lists(st.booleans(), min_size=len(first), max_size=len(first)))
    assert 0.0 < compared(first, second) <= 1.0
    assert compared(first, second) == compared(second, first)
    assert compared(first, first) == 1.0


# --- Several ---------------------------------------------------------------------------------------------------------


@LAW
@given(st.lists(st.floats(0.0, 1.0), max_size=8))
def test_holm_is_its_definition(p_values):
    found = holm(p_values)
    ordered = sorted(p_values)
    for p, corrected in zip(p_values, found, strict=True):
        # The largest of the corrected values of this and all smaller ones.
        rank = max(i for i, one in enumerate(ordered) if one == p)
        assert corrected == max(min(1.0, (len(ordered) - i) * ordered[i]) for i in range(rank + 1))
        assert p <= corrected <= 1.0
    assert holm(p_values[:1]) == p_values[:1]


def test_a_deviation_is_that_of_a_sample():
    mean, deviation = mean_and_deviation([1.0, 2.0, 6.0])
    assert mean == 3.0
    assert deviation == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
