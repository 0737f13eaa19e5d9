"""The alignment error rate, against cases worked out by hand from the formula."""

import pytest

from manyheads.metrics.alignment_error import GoldLinks, alignment_error_rate

GOLD = GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(2, 1), (2, 2)}))


@pytest.mark.parametrize(
    ("found", "right", "total"),
    [
        (set(), 0, 0 + 2),
        ({(0, 0), (1, 1)}, 2 + 2, 2 + 2),
        ({(0, 0), (1, 1), (2, 2)}, 2 + 3, 3 + 2),  # what is possible costs nothing
        ({(0, 0), (0, 1)}, 1 + 1, 2 + 2),
        ({(0, 2), (2, 0)}, 0, 2 + 2),
        ({(0, 0), (2, 1), (2, 0)}, 1 + 2, 3 + 2),
    ],
)
def test_the_rate_of_a_sentence_is_that_of_the_formula(found, right, total):
    assert alignment_error_rate([found], [GOLD]) == pytest.approx(100 * (1 - right / total))


def test_sentences_are_counted_together_and_not_averaged():
    long, short = GoldLinks(frozenset((i, i) for i in range(8)), frozenset()), GOLD
    found = [set(long.sure), {(0, 1)}]
    assert alignment_error_rate(found, [long, short]) == pytest.approx(100 * (1 - 16 / (16 + 3)))


def test_where_nothing_is_to_be_aligned_nothing_is_wrong():
    nothing = GoldLinks(frozenset(), frozenset())
    assert alignment_error_rate([], []) == 0.0
    assert alignment_error_rate([set()], [nothing]) == 0.0
    assert alignment_error_rate([{(0, 0)}], [nothing]) == 100.0


def test_both_directions_have_the_same_rate():
    found = {(0, 0), (2, 1), (0, 2)}
    turned = {(j, i) for i, j in found}
    assert alignment_error_rate([turned], [GOLD.reversed()]) == alignment_error_rate([found], [GOLD])
