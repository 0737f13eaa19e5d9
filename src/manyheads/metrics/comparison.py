"""Compares several systems on the same sentences: confidence intervals of scores, and p-values of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyheads.config.values import OVERLAP_METRICS, Metric
from manyheads.metrics.error_rates import matches, symbol_errors
from manyheads.metrics.scores import OverlapOptions
from manyheads.metrics.significance import (
    SIGNIFICANT,
    Floats,
    bootstrap,
    bootstrap_p_value,
    holm,
    interval,
    mcnemar,
    percentage,
)


@dataclass(frozen=True)
class SystemScore:
    """The score of one system, its 95 % confidence interval, and the p-value of its difference from the first system.

    `corrected` is the p-value after Holm's correction for the number of systems. The first system has no p-values.
    """

    value: float
    low: float
    high: float
    p_value: float | None = None
    corrected: float | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the difference from the first system is significant; None for the first system itself."""
        return None if self.corrected is None else self.corrected < SIGNIFICANT


def significance_test(metric: Metric) -> str:
    """Return the name of the significance test for a metric."""
    return "McNemar's exact test" if metric in ("exact_match", "word_error_rate") else "paired bootstrap"


def compare(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], options: OverlapOptions
) -> list[SystemScore]:
    """Compare the outputs of systems with those of the first; each sentence has one or more references."""
    if metric in OVERLAP_METRICS:
        from manyheads.metrics.overlap import paired_bootstrap

        first_references = [row[0] for row in references]
        results = paired_bootstrap(
            metric, systems, first_references, lowercase=options.lowercase, tokenizer=options.bleu_tokenizer
        )
        scores, p_values = [SystemScore(*row[:3]) for row in results], [row.p_value for row in results[1:]]
    else:
        scores, p_values = _rates(metric, systems, references)
    return scores[:1] + [
        SystemScore(score.value, score.low, score.high, p_value, corrected)
        for score, p_value, corrected in zip(scores[1:], p_values, holm(p_values), strict=True)
    ]


def _rates(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> tuple[list[SystemScore], list[float]]:
    """Return the scores by a rate, and the p-values of all systems but the first."""
    counts = [_counts(metric, outputs, references) for outputs in systems]
    samples = bootstrap(counts)
    values = [percentage(count.sum(axis=0)) for count in counts]
    scores = [SystemScore(value, *interval(row)) for value, row in zip(values, samples, strict=True)]
    if significance_test(metric) == "paired bootstrap":
        p_values = [
            bootstrap_p_value(row, samples[0], difference=value - values[0])
            for value, row in zip(values[1:], samples[1:], strict=True)
        ]
    else:
        p_values = [mcnemar(counts[0][:, 0] > 0, count[:, 0] > 0) for count in counts[1:]]
    return scores, p_values


def _counts(metric: Metric, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return the numerator and denominator of a rate for each sentence [N, 2]."""
    if metric == "symbol_error_rate":
        return np.array(symbol_errors(outputs, references), dtype=np.float64)
    counted = metric == "exact_match"  # exact match counts right outputs, the word error rate wrong ones
    return np.array([(right == counted, 1) for right in matches(outputs, references)], dtype=np.float64)
