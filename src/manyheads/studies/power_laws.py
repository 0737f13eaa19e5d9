"""Power laws, fitted robustly, and how certain their exponents are.

    power           y = A·x^−α                                              Kaplan et al. (2020): L(N), L(D), L(C)
    exponential     y = C·e^(−k·x)                                          Gordon et al. (2021): BLEU by cross-entropy
    separate        L(N, D) = E + A/N^α + B/D^β                             Hoffmann et al. (2022), "Chinchilla"
    joint           L(N, D) = [(N_C/N)^(α_N/α_D) + D_C/D]^α_D               Kaplan et al. (2020), Gordon et al. (2021)

A fit minimises Huber's loss of the residuals of log y, so that a failed run has little weight, by Levenberg–Marquardt
from several starts [Besiroglu et al. 2024 fitted Chinchilla's data again with the same loss]. Intervals are those of a
bootstrap over the residuals: the grid of runs stays, and what the law leaves unexplained is drawn again. All draws are
fitted at once.

Axis letters: B fits, P parameters, N points, X variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyheads.metrics.significance import SEED, interval
from manyheads.studies.statistics import Estimate

Floats = NDArray[np.float64]

DELTA = 0.01  # residuals of log y beyond it count by their size, not by their square
DRAWS = 400  # of the bootstrap
MOST_STEPS = 100
CLOSE = 1e-7  # relative improvement at which a fit has converged
LEAST_DAMPING, MOST_DAMPING, TINY = 1e-6, 1e6, 1e-6  # with the most, steps are too short to improve anything
NUDGE = 1e-6  # for derivatives
LEAST_EXPONENT = 1e-3


@dataclass(frozen=True)
class Law:
    """A law for log y: parameters [B, P] and points [N, X] give [B, N].

    The parameters have names, and values from which a fit may start.
    """

    name: str
    log_value: Callable[[Floats, Floats], Floats]
    names: tuple[str, ...]
    starts: tuple[tuple[float, ...], ...]

    def grid(self) -> Floats:
        """Return every combination of the starting values [B, P]."""
        return np.array(list(itertools.product(*self.starts)), dtype=np.float64)


@dataclass(frozen=True)
class Prior:
    """What is known of the parameters before any point: means [P] or [B, P], and their covariance [P, P].

    `noise` is the standard deviation of log y, which says how much a point weighs against it.
    """

    mean: Floats
    covariance: Floats
    noise: float

    @property
    def precision(self) -> Floats:
        """The weights [P, P] of the parameters' distances from their means, in units of squared residuals."""
        weights: Floats = np.asarray(self.noise**2 * np.linalg.inv(self.covariance), dtype=np.float64)
        return weights


@dataclass(frozen=True)
class Fit:
    """A law that was fitted, and the parameters of every draw of the bootstrap [B, P]."""

    law: Law
    parameters: Floats
    draws: Floats
    residuals: Floats

    def parameter(self, name: str) -> Estimate:
        """Return a parameter by its name."""
        place = self.law.names.index(name)
        return Estimate(float(self.parameters[place]), *interval(self.draws[:, place]))

    def predict(self, *point: float) -> Estimate:
        """Return y at a point, with the interval of what the draws give."""
        x = np.array([point], dtype=np.float64)
        value = float(np.exp(self.law.log_value(self.parameters[None], x))[0, 0])
        return Estimate(value, *interval(np.exp(self.law.log_value(self.draws, x))[:, 0]))

    def curve(self, points: ArrayLike) -> Floats:
        """Return y [N] at points [N, X]."""
        values: Floats = np.exp(self.law.log_value(self.parameters[None], _points(points)))[0]
        return values


def fit(law: Law, points: ArrayLike, values: ArrayLike, *, delta: float = DELTA) -> Fit:
    """Fit a law to values [N] at points [N] or [N, X]; all of them are positive."""
    x, logs = _points(points), np.log(np.asarray(values, dtype=np.float64))
    found, costs = minimise(law, law.grid(), x, logs, delta=delta)
    best = found[np.argmin(costs)]
    fitted = law.log_value(best[None], x)[0]
    residuals = logs - fitted
    freedom = max(1, len(logs) - len(best))
    generator = np.random.default_rng(SEED)
    drawn = generator.choice(residuals, size=(DRAWS, len(logs))) * np.sqrt(len(logs) / freedom)
    draws, _ = minimise(law, np.tile(best, (DRAWS, 1)), x, fitted + drawn, delta=delta)
    return Fit(law, best, draws, residuals)


def minimise(
    law: Law, starts: Floats, points: Floats, logs: Floats, *, delta: float = DELTA, prior: Prior | None = None
) -> tuple[Floats, Floats]:
    """Return the parameters [B, P] reached from starts [B, P] for logarithms [N] or [B, N], and their costs [B]."""
    problem = _Problem.of(law, starts, points, logs, delta, prior)
    parameters, costs, damping = starts.copy(), problem.costs(starts), np.full(len(starts), 1e-2)
    identity, rows = np.eye(starts.shape[1]), np.arange(len(starts))  # rows: the fits that still improve
    for _ in range(MOST_STEPS):
        some, before = problem.rows(rows), parameters[rows]
        gradient, curvature = some.normal_equations(before)
        diagonal = np.einsum("bpp->bp", curvature) + TINY
        damped = curvature + (damping[rows, None] * diagonal)[:, :, None] * identity
        moved = before + np.linalg.solve(damped, gradient[:, :, None])[:, :, 0]
        with np.errstate(over="ignore", invalid="ignore"):  # too long a step is not taken
            new = some.costs(moved)
        better, gain = new < costs[rows], costs[rows] - new
        settled = np.where(better, gain <= CLOSE * costs[rows], damping[rows] > MOST_DAMPING)
        parameters[rows[better]], costs[rows[better]] = moved[better], new[better]
        damping[rows] = np.where(better, np.maximum(damping[rows] / 5, LEAST_DAMPING), damping[rows] * 4)
        rows = rows[~settled]
        if not len(rows):
            break
    return parameters, costs


# --- Laws ------------------------------------------------------------------------------------------------------------


def _power(parameters: Floats, points: Floats) -> Floats:
    """Return log A − α·log x."""
    log_a, alpha = _columns(parameters)
    values: Floats = log_a - alpha * np.log(points[:, 0])
    return values


def _exponential(parameters: Floats, points: Floats) -> Floats:
    """Return log C − k·x."""
    log_c, k = _columns(parameters)
    values: Floats = log_c - k * points[:, 0]
    return values


def _separate(parameters: Floats, points: Floats) -> Floats:
    """Return log(E + A/N^α + B/D^β)."""
    log_e, log_a, alpha, log_b, beta = _columns(parameters)
    by_size, by_data = log_a - alpha * np.log(points[:, 0]), log_b - beta * np.log(points[:, 1])
    values: Floats = np.logaddexp(np.logaddexp(log_e, by_size), by_data)
    return values


def _joint(parameters: Floats, points: Floats) -> Floats:
    """Return α_D·log Σ exp((a_i − α_i·log x_i)/α_D) over the variables N, D, …, where a_N = α_N·log N_C, and so on."""
    a, alpha = parameters[:, 0::2, None], parameters[:, 1::2, None]  # [B, X, 1]
    shared = np.maximum(alpha[:, 1], LEAST_EXPONENT)  # [B, 1]
    alone = a - alpha * np.log(points.T)  # [B, X, N]: what the loss would be if all other variables were infinite
    values: Floats = shared * np.logaddexp.reduce(alone / shared[:, None], axis=1)
    return values


POWER = Law("power", _power, ("log A", "α"), ((0.0, 3.0), (0.05, 0.3)))
EXPONENTIAL = Law("exponential", _exponential, ("log C", "k"), ((3.0, 5.0), (0.5, 1.0)))
SEPARATE = Law(
    "separate",
    _separate,
    ("log E", "log A", "α", "log B", "β"),
    ((-1.0, 0.5), (1.0, 4.0), (0.2, 0.5), (1.0, 4.0), (0.2, 0.5)),
)
JOINT = Law("joint", _joint, ("a_N", "α_N", "a_D", "α_D"), ((1.0, 3.0), (0.1, 0.4), (2.0, 4.0), (0.1, 0.4)))
JOINT_IN_TIME = Law(
    "joint, in time",
    _joint,
    (*JOINT.names, "a_T", "α_T"),  # T: the tokens that were learned from, as a third variable
    (*JOINT.starts, (1.0,), (0.3,)),
)


# --- Fitting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    """What several fits minimise: Huber's loss of their residuals, and the distances from what is known before."""

    law: Law
    points: Floats  # [N, X]
    logs: Floats  # [B, N]
    delta: float
    mean: Floats  # [B, P]
    precision: Floats  # [P, P]

    @classmethod
    def of(cls, law: Law, starts: Floats, points: Floats, logs: Floats, delta: float, prior: Prior | None) -> _Problem:
        """Return the problem of fits that begin at starts [B, P]."""
        mean = starts if prior is None else np.broadcast_to(prior.mean, starts.shape)
        precision = np.zeros((starts.shape[1],) * 2) if prior is None else prior.precision
        return cls(law, points, np.broadcast_to(logs, (len(starts), len(points))), delta, mean, precision)

    def rows(self, rows: NDArray[np.intp]) -> _Problem:
        """Return the problem of some of the fits."""
        return replace(self, logs=self.logs[rows], mean=self.mean[rows])

    def costs(self, parameters: Floats) -> Floats:
        """Return what each of the fits [B] is to minimise."""
        sizes = np.abs(self.logs - self.law.log_value(parameters, self.points))
        huber = np.where(sizes <= self.delta, sizes**2 / 2, self.delta * (sizes - self.delta / 2))
        distances = parameters - self.mean
        costs: Floats = huber.sum(axis=1) + (distances @ self.precision * distances).sum(axis=1) / 2
        return costs

    def normal_equations(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return JᵀWr [B, P] and JᵀWJ [B, P, P], where W are the weights that Huber's loss gives to residuals r."""
        residuals = self.logs - self.law.log_value(parameters, self.points)
        weights = self.delta / np.maximum(np.abs(residuals), self.delta)
        jacobian = np.empty((*residuals.shape, parameters.shape[1]))
        for place in range(parameters.shape[1]):
            nudge = np.zeros(parameters.shape[1])
            nudge[place] = NUDGE
            higher, lower = (self.law.log_value(parameters + sign * nudge, self.points) for sign in (1, -1))
            jacobian[:, :, place] = (higher - lower) / (2 * NUDGE)
        weighted = (jacobian * weights[:, :, None]).transpose(0, 2, 1)
        gradient = (weighted @ residuals[:, :, None])[:, :, 0] - (parameters - self.mean) @ self.precision
        curvature: Floats = weighted @ jacobian + self.precision
        return gradient, curvature


def _columns(parameters: Floats) -> Floats:
    """Return parameters [B, P] as [P, B, 1], one for each name."""
    columns: Floats = parameters.T[:, :, None]
    return columns


def _points(points: ArrayLike) -> Floats:
    """Return points [N] or [N, X] as [N, X]."""
    values = np.asarray(points, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values
