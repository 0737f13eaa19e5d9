"""Several systems on the same sentences: how sure each figure is, and which differences chance explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyheads.config.values import Metric
from manyheads.metrics.error_rates import matches, symbol_errors
from manyheads.metrics.scores import Scale
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
class Standing:
    """How a system does by one metric: its score, the interval of 95 %, and the p-value of its difference to the first.

    `corrected` is the p-value after Holm's correction for the number of systems. The first system has neither.
    """

    value: float
    low: float
    high: float
    p_value: float | None = None
    corrected: float | None = None

    @property
    def significant(self) -> bool | None:
        """Whether chance is an unlikely explanation of the difference to the first system."""
        return None if self.corrected is None else self.corrected < SIGNIFICANT


def significance_test(metric: Metric) -> str:
    """Return the name of the test that a metric's p-values come from."""
    return "McNemar's exact test" if metric in ("exact_match", "word_error_rate") else "paired bootstrap"


def compare(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], scale: Scale
) -> list[Standing]:
    """Compare the outputs of systems with those of the first; each sentence has one right answer or several."""
    if metric in ("bleu", "chrf"):
        from manyheads.metrics.overlap import paired_bootstrap

        first_references = [row[0] for row in references]
        found = paired_bootstrap(
            metric, systems, first_references, lowercase=scale.lowercase, tokenizer=scale.bleu_tokenizer
        )
        standings, p_values = [Standing(*row[:3]) for row in found], [row.p_value for row in found[1:]]
    else:
        standings, p_values = _rates(metric, systems, references)
    corrected = holm(p_values)
    return standings[:1] + [
        Standing(one.value, one.low, one.high, p_value, after)
        for one, p_value, after in zip(standings[1:], p_values, corrected, strict=True)
    ]


def _rates(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> tuple[list[Standing], list[float]]:
    """Return the standings by a rate, and the p-values of all systems but the first."""
    counts = [_counts(metric, outputs, references) for outputs in systems]
    samples = bootstrap(counts)
    values = [percentage(count.sum(axis=0)) for count in counts]
    standings = [Standing(value, *interval(row)) for value, row in zip(values, samples, strict=True)]
    if significance_test(metric) == "paired bootstrap":
        p_values = [
            bootstrap_p_value(row, samples[0], difference=value - values[0])
            for value, row in zip(values[1:], samples[1:], strict=True)
        ]
    else:
        p_values = [mcnemar(counts[0][:, 0] > 0, count[:, 0] > 0) for count in counts[1:]]
    return standings, p_values


def _counts(metric: Metric, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return the numerator and denominator of a rate for each sentence [N, 2]."""
    if metric == "symbol_error_rate":
        return np.array(symbol_errors(outputs, references), dtype=np.float64)
    right = matches(outputs, references)
    return np.array([(one == (metric == "exact_match"), 1) for one in right], dtype=np.float64)
