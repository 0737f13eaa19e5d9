"""Scores: a value with the name of its metric, its direction, and what is needed to reproduce it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from manyheads.config.tasks.translation import TranslationValidation
from manyheads.config.values import OVERLAP_METRICS, Metric
from manyheads.errors import ManyheadsError, did_you_mean
from manyheads.metrics.error_rates import exact_match, symbol_error_rate, word_error_rate


@dataclass(frozen=True)
class Score:
    """One measurement. `signature` is sacreBLEU's, for its metrics."""

    name: str
    value: float
    signature: str = ""
    higher_is_better: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f}"

    def better_than(self, other: float | None) -> bool:
        """Return whether this is better than another value of the same metric. Any number is better than None."""
        if other is None or math.isnan(self.value):
            return not math.isnan(self.value)
        return self.value > other if self.higher_is_better else self.value < other


@dataclass(frozen=True)
class OverlapOptions:
    """The options of sacreBLEU's metrics: whether to ignore case, and which tokenizer BLEU uses."""

    lowercase: bool = False
    bleu_tokenizer: str = "13a"


def companion_metrics(metric: Metric) -> tuple[Metric, ...]:
    """Return the metrics that are reported together with the main one."""
    companions: dict[Metric, tuple[Metric, ...]] = {
        "bleu": ("chrf",),
        "chrf": ("bleu",),
        "word_error_rate": ("symbol_error_rate",),
        "symbol_error_rate": ("word_error_rate",),
    }
    return companions.get(metric, ())


def check_metrics(names: Iterable[str]) -> list[Metric]:
    """Return names as metrics of outputs; an unknown name is an error."""
    known = [name for name in get_args(Metric) if name != "loss"]
    names = list(names)
    for name in names:
        if name not in known:
            raise ManyheadsError(f"there is no metric '{name}'.", cure=did_you_mean(name, known))
    return [cast(Metric, name) for name in names]


def check_tokenizer(name: str) -> str:
    """Return the name of a sacreBLEU tokenizer; an unknown name is an error."""
    known = get_args(TranslationValidation.model_fields["bleu_tokenizer"].annotation)
    if name not in known:
        raise ManyheadsError(f"there is no BLEU tokenizer '{name}'.", cure=did_you_mean(name, known))
    return name


def lower_is_better(metric: str) -> bool:
    """Return whether a smaller value of a metric is better."""
    return metric in ("loss", "ter", "word_error_rate", "symbol_error_rate")


def measure(
    metric: Metric, outputs: Sequence[str], references: Sequence[Sequence[str]], options: OverlapOptions
) -> Score:
    """Score outputs against their references. sacreBLEU's metrics use the first, error rates the nearest."""
    if metric in OVERLAP_METRICS:
        from manyheads.metrics.overlap import overlap_score

        value, signature = overlap_score(
            metric,
            outputs,
            [row[0] for row in references],
            lowercase=options.lowercase,
            tokenizer=options.bleu_tokenizer,
        )
        return Score(metric, value, signature, higher_is_better=not lower_is_better(metric))
    rates: dict[str, Callable[[Sequence[str], Sequence[Sequence[str]]], float]] = {
        "exact_match": exact_match,
        "word_error_rate": word_error_rate,
        "symbol_error_rate": symbol_error_rate,
    }
    return Score(metric, rates[metric](outputs, references), higher_is_better=not lower_is_better(metric))


def with_references(pairs: Iterable[tuple[str, str]], *, grouped: bool) -> list[tuple[str, list[str]]]:
    """Return sources with their references; if `grouped`, each distinct source occurs once with all its targets."""
    if not grouped:
        return [(source, [target]) for source, target in pairs]
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    return list(references.items())


def perplexity(mean_negative_log_probability: float) -> float:
    """Return exp of the mean negative log-probability per token, or infinity if that overflows."""
    try:
        return math.exp(mean_negative_log_probability)
    except OverflowError:
        return math.inf
