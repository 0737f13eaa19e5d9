"""Scores are compared in the direction of their metric, and targets of the same source are grouped."""

import math

import pytest

from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import (
    OverlapOptions,
    Score,
    check_metrics,
    companion_metrics,
    lower_is_better,
    measure,
    perplexity,
    with_references,
)


def test_anything_beats_nothing_and_the_direction_decides_the_rest():
    assert Score("bleu", 0.0).better_than(None)
    assert Score("bleu", 2.0).better_than(1.0) and not Score("bleu", 1.0).better_than(1.0)
    error = Score("word_error_rate", 2.0, higher_is_better=False)
    assert error.better_than(3.0) and not error.better_than(2.0) and not error.better_than(1.0)


@pytest.mark.parametrize("metric", ["exact_match", "word_error_rate", "symbol_error_rate"])
def test_error_rates_are_measured_against_every_answer(metric):
    score = measure(metric, ["b"], [["a", "b"]], OverlapOptions())
    assert score.value == (100.0 if metric == "exact_match" else 0.0)
    assert score.higher_is_better == (metric == "exact_match")
    assert lower_is_better(metric) != score.higher_is_better


def test_a_companion_is_another_metric_whose_companion_is_the_first():
    for metric in ("bleu", "chrf", "word_error_rate", "symbol_error_rate"):
        (other,) = companion_metrics(metric)
        assert other != metric
        assert companion_metrics(other) == (metric,)
    assert companion_metrics("exact_match") == companion_metrics("loss") == ()


def test_a_misspelt_metric_is_refused_with_a_suggestion():
    with pytest.raises(ManyheadsError, match=r"no metric 'blue'.*bleu"):
        check_metrics(["chrf", "blue"])
    with pytest.raises(ManyheadsError, match="no metric 'loss'"):
        check_metrics(["loss"])  # there is no loss of outputs


def test_known_metrics_come_back_from_any_iterable():
    names = ["bleu", "exact_match"]
    assert check_metrics(names) == names
    assert check_metrics(name for name in names) == names


def test_references_are_grouped_by_source_in_the_order_of_the_sources():
    pairs = [("b", "1"), ("a", "2"), ("b", "3"), ("b", "1")]
    assert with_references(pairs, grouped=True) == [("b", ["1", "3", "1"]), ("a", ["2"])]
    assert with_references(pairs, grouped=False) == [("b", ["1"]), ("a", ["2"]), ("b", ["3"]), ("b", ["1"])]


def test_perplexity_is_the_exponential_and_never_overflows():
    assert perplexity(0.0) == 1.0
    assert perplexity(math.log(50)) == pytest.approx(50.0)  # as unsure as among fifty equals
    assert perplexity(1e6) == math.inf
