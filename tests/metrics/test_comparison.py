"""Systems are compared by whatever metric a task has, and the figures are those of the scores."""

import random

import numpy as np
import pytest

from manyheads.metrics.comparison import compare, significance_test
from manyheads.metrics.scores import OverlapOptions, lower_is_better, measure
from manyheads.metrics.significance import holm, mcnemar

METRICS = ["bleu", "chrf", "chrf++", "ter", "exact_match", "word_error_rate", "symbol_error_rate"]
ANSWERS = [[f"A{i} B C D{i}", f"other {i}"] for i in range(60)]


def outputs(share: float, seed: int) -> list[str]:
    """Return outputs of which about this share is right; the others lack their last word."""
    chance = random.Random(seed)
    return [right if chance.random() < share else right[: right.rindex(" ")] for right, _ in ANSWERS]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_can_be_compared_by(metric):
    systems = [outputs(0.9, 1), outputs(0.3, 2), outputs(0.88, 3), outputs(0.9, 1)]
    scores = compare(metric, systems, ANSWERS, OverlapOptions())
    for system, score in zip(systems, scores, strict=True):
        assert score.value == pytest.approx(measure(metric, system, ANSWERS, OverlapOptions()).value)
        assert score.low <= score.value <= score.high
    first, worse, similar, same = scores
    assert (first.p_value, first.corrected, first.significant) == (None, None, None)
    assert worse.significant and not similar.significant
    assert (worse.value > first.value) == lower_is_better(metric)
    assert same.p_value == same.corrected == 1.0 and same.significant is False
    assert [one.corrected for one in scores[1:]] == holm([one.p_value for one in scores[1:]])
    assert compare(metric, systems, ANSWERS, OverlapOptions()) == scores


def test_right_and_wrong_are_tested_alike():
    systems = [outputs(0.8, 1), outputs(0.6, 2)]
    right = [[one in answers for one, answers in zip(system, ANSWERS, strict=True)] for system in systems]
    by_rate = {
        metric: compare(metric, systems, ANSWERS, OverlapOptions())[1] for metric in ("exact_match", "word_error_rate")
    }
    for metric, score in by_rate.items():
        assert score.p_value == pytest.approx(mcnemar(*map(np.array, right)))
        assert significance_test(metric) == "McNemar's exact test"
    assert by_rate["exact_match"].low == pytest.approx(100 - by_rate["word_error_rate"].high)
