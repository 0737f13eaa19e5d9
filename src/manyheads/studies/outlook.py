"""The laws behind a forecast: loss by parameters, data and tokens learned from; score by loss.

    L(N, D, T) = [(N_C/N)^(α_N/α_D) + D_C/D + (T_C/T)^(α_T/α_D)]^α_D
    score = C·e^(−k·L)

These are those of `power_laws`, with tokens as a third variable. A handful of tiny runs cannot say all of that, so what
other trainings have shown is a prior. Every draw of the band takes the runs with noise and the prior with its spread,
and fits them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyheads.metrics.significance import SEED, interval
from manyheads.studies.forecast import TinyRun
from manyheads.studies.power_laws import EXPONENTIAL, JOINT_IN_TIME, Floats, Law, Prior, minimise
from manyheads.studies.statistics import Estimate

DRAWS = 400
LOSS_NOISE, SCORE_NOISE = 0.03, 0.06  # standard deviations of log L and log score, of chance and of what laws leave out
ROBUST = 2.0  # standard deviations beyond which residuals count by their size
LEAST_SCORE = 5.0  # below it, scores fall more steeply, and in part by chance
BEST_SCORE = 100.0

REFERENCE = np.log([[1e6, 1e4, 1e5]])  # log N, D and T at which a is the log of the loss that each alone would leave
MEANS = np.array([0.34, 0.12, 0.59, 0.38, 1.36, 0.35])  # a_N, α_N, a_D, α_D, a_T, α_T
DEVIATIONS = np.array([0.12, 0.03, 0.25, 0.08, 0.15, 0.08])
TEXTS = 0.25  # standard deviation of what all three a have in common: some texts are harder to foretell than others
COVARIANCE = np.diag(DEVIATIONS**2) + TEXTS**2 * np.outer([1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0])
"""Exponents of N and D as Gordon et al. (2021) found them. The others are set by hand, around what a few trainings on
captions reached, with spreads that are meant to cover other texts.
"""
SCORES = {"bleu": (np.log(110.0), 0.7), "chrf": (np.log(110.0), 0.39)}  # log C and k
SCORE_COVARIANCE = np.diag([0.12**2, 0.1**2])


@dataclass(frozen=True)
class Outlook:
    """Laws that were fitted to tiny runs: a row for each draw."""

    losses: Floats
    scores: Floats
    luck: Floats  # of a run: the log of a factor on its score, for each draw

    @classmethod
    def of(cls, runs: Sequence[TinyRun], metric: str) -> Outlook:
        """Fit the laws to runs."""
        generator = np.random.default_rng(SEED)
        points = np.exp(np.log([(run.parameters, run.pairs, run.tokens) for run in runs]) - REFERENCE)
        logs = np.log([run.loss for run in runs])
        losses = _draws(generator, JOINT_IN_TIME, points, logs, MEANS, COVARIANCE, LOSS_NOISE)
        scored = [run for run in runs if run.score >= LEAST_SCORE]
        by_loss = np.array([[run.loss] for run in scored]).reshape(-1, 1)
        values = np.log([run.score for run in scored])
        means = np.array(SCORES[metric])
        scores = _draws(generator, EXPONENTIAL, by_loss, values, means, SCORE_COVARIANCE, SCORE_NOISE)
        return cls(losses, scores, SCORE_NOISE / 2 * generator.standard_normal(DRAWS))

    def score(self, parameters: float, pairs: float, tokens: float) -> Floats:
        """Return the score of a run in every draw."""
        point = np.exp(np.log([[parameters, pairs, tokens]]) - REFERENCE)
        loss = np.exp(JOINT_IN_TIME.log_value(self.losses, point))[:, 0]
        log_c, k = self.scores.T
        values: Floats = np.minimum(BEST_SCORE, np.exp(log_c - k * loss + self.luck))
        return values


def estimate(draws: Floats) -> Estimate:
    """Return the median of draws with the interval of 95 % of them."""
    return Estimate(float(np.median(draws)), *interval(draws))


def _draws(
    generator: np.random.Generator,
    law: Law,
    points: Floats,
    logs: Floats,
    means: Floats,
    covariance: Floats,
    noise: float,
) -> Floats:
    """Return the parameters of fits to points with noise, under priors that are drawn too [draws, P]."""
    priors = generator.multivariate_normal(means, covariance, size=DRAWS)
    values = logs + noise * generator.standard_normal((DRAWS, len(logs)))
    found, _ = minimise(law, priors, points, values, delta=ROBUST * noise, prior=Prior(priors, covariance, noise))
    return found
