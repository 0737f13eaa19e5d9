"""Scores know their direction, and answers to the same question are gathered."""

import math

import pytest

from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import (
    Scale,
    Score,
    answers_of,
    check_metrics,
    companions,
    lower_is_better,
    measure,
    perplexity,
)


def test_anything_beats_nothing_and_the_direction_decides_the_rest():
    assert Score("bleu", 0.0).better_than(None)
    assert Score("bleu", 2.0).better_than(1.0) and not Score("bleu", 1.0).better_than(1.0)
    error = Score("word_error_rate", 2.0, higher_is_better=False)
    assert error.better_than(3.0) and not error.better_than(2.0) and not error.better_than(1.0)


@pytest.mark.parametrize("metric", ["exact_match", "word_error_rate", "symbol_error_rate"])
def test_error_rates_are_measured_against_every_answer(metric):
    score = measure(metric, ["b"], [["a", "b"]], Scale())
    assert score.value == (100.0 if metric == "exact_match" else 0.0)
    assert score.higher_is_better == (metric == "exact_match")
    assert lower_is_better(metric) != score.higher_is_better


def test_a_companion_is_another_metric_that_returns_the_favour():
    for metric in ("bleu", "chrf", "word_error_rate", "symbol_error_rate"):
        (other,) = companions(metric)
        assert other != metric
        assert companions(other) == (metric,)
    assert companions("exact_match") == companions("loss") == ()


def test_a_misspelt_metric_is_refused_with_a_suggestion():
    with pytest.raises(ManyheadsError, match=r"no metric 'blue'.*bleu"):
        check_metrics(["chrf", "blue"])
    with pytest.raises(ManyheadsError, match="no metric 'loss'"):
        check_metrics(["loss"])  # there is no loss of outputs


def test_known_metrics_come_back_from_any_iterable():
    names = ["bleu", "exact_match"]
    assert check_metrics(names) == names
    assert check_metrics(name for name in names) == names


def test_answers_are_gathered_by_question_in_the_order_of_the_questions():
    pairs = [("b", "1"), ("a", "2"), ("b", "3"), ("b", "1")]
    assert answers_of(pairs, grouped=True) == [("b", ["1", "3", "1"]), ("a", ["2"])]
    assert answers_of(pairs, grouped=False) == [("b", ["1"]), ("a", ["2"]), ("b", ["3"]), ("b", ["1"])]


def test_perplexity_is_the_exponential_and_never_overflows():
    assert perplexity(0.0) == 1.0
    assert perplexity(math.log(50)) == pytest.approx(50.0)  # as unsure as among fifty equals
    assert perplexity(1e6) == math.inf
