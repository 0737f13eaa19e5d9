"""Power laws: exponents of made-up data are found again, with noise and with a run that failed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from manyheads.studies.power_laws import EXPONENTIAL, JOINT, POWER, SEPARATE, Law, Prior, fit, minimise

SIZES, DATA = np.geomspace(2e4, 2e6, 5), np.geomspace(2e3, 3e4, 4)
GRID = np.array(list(itertools.product(SIZES, DATA)))
LINE = np.geomspace(1e4, 1e7, 12)
TRUE = {
    POWER: (4.0, 0.076),
    EXPONENTIAL: (4.5, 0.45),
    SEPARATE: (np.log(1.8), 3.0, 0.35, 3.5, 0.37),
    JOINT: (2.4, 0.12, 3.6, 0.4),
}
LAWS = [pytest.param(law, id=law.name) for law in TRUE]


def points_of(law: Law) -> np.ndarray:
    """Return where a law is measured: losses from 1 to 6, a line of sizes, or a grid of sizes and data."""
    return {"power": LINE, "exponential": np.linspace(1.0, 6.0, 12)}.get(law.name, GRID)


def made_up(law: Law, *, noise: float, seed: int = 1) -> np.ndarray:
    points = points_of(law)
    logs = law.log_value(np.array([TRUE[law]]), points if points.ndim == 2 else points[:, None])[0]
    return np.exp(logs + noise * np.random.default_rng(seed).standard_normal(len(logs)))


@pytest.mark.parametrize("law", LAWS)
def test_without_noise_the_law_is_found_again(law: Law):
    found = fit(law, points_of(law), made_up(law, noise=0.0))
    assert found.parameters == pytest.approx(TRUE[law], rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_the_interval_holds_the_exponent_nearly_always(law: Law):
    fits = [fit(law, points_of(law), made_up(law, noise=0.01, seed=seed)) for seed in range(10)]
    for truth, name in zip(TRUE[law], law.names, strict=True):
        found = [one.parameter(name) for one in fits]
        held = [one.low <= truth <= one.high for one in found]
        assert sum(held) >= 8, (name, found)


def test_a_run_that_failed_hardly_matters():
    values = made_up(JOINT, noise=0.005)
    without = np.delete(np.arange(len(values)), 7)
    clean = fit(JOINT, GRID[without], values[without])
    values[7] *= 1.5
    found = fit(JOINT, GRID, values)
    squares = fit(JOINT, GRID, values, delta=1e9)

    def distance(one: object) -> float:
        return max(abs(one.parameters - clean.parameters))  # type: ignore[attr-defined]

    assert distance(found) < 0.2 * distance(squares)
    assert found.parameter("α_N").low <= TRUE[JOINT][1] <= found.parameter("α_N").high


def test_a_larger_run_is_predicted_with_an_interval():
    found = fit(JOINT, GRID, made_up(JOINT, noise=0.01))
    larger = np.array([[4 * SIZES[-1], 2 * DATA[-1]]])
    truth = float(np.exp(JOINT.log_value(np.array([TRUE[JOINT]]), larger))[0, 0])
    guess = found.predict(*larger[0])
    assert guess.low <= truth <= guess.high
    assert guess.value == pytest.approx(truth, rel=0.03)
    assert found.curve(larger)[0] == pytest.approx(guess.value)


def test_what_is_known_before_decides_where_points_do_not():
    """Three points at one size say nothing about the exponent of size."""
    points, logs = GRID[:3], np.log(made_up(JOINT, noise=0.0)[:3])
    known = np.array(TRUE[JOINT])
    prior = Prior(known + np.array([0.0, 0.05, 0.0, 0.0]), np.diag([1.0, 0.02, 1.0, 0.1]) ** 2, noise=0.01)
    ((found,), _) = minimise(JOINT, JOINT.grid()[:1], points, logs, prior=prior)
    assert found[1] == pytest.approx(known[1] + 0.05, abs=0.02)
    assert JOINT.log_value(found[None], points)[0] == pytest.approx(logs, abs=0.01)
