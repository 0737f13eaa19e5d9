"""Edit distance is a distance; error rates take the nearest of several answers."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyheads.metrics.error_rates import edit_distance, exact_match, symbol_error_rate, word_error_rate

texts = st.text(alphabet="abc", max_size=7)
LAW = settings(deadline=None, derandomize=True)


@functools.cache
def by_definition(first: str, second: str) -> int:
    """Return the edit distance by its recursion, which needs no table and no cleverness."""
    if not first or not second:
        return len(first) + len(second)
    if first[-1] == second[-1]:
        return by_definition(first[:-1], second[:-1])
    return 1 + min(
        by_definition(first[:-1], second),
        by_definition(first, second[:-1]),
        by_definition(first[:-1], second[:-1]),
    )


@LAW
@given(first=texts, second=texts)
def test_it_equals_the_definition(first, second):
    assert edit_distance(first, second) == by_definition(first, second)


@LAW
@given(first=texts, second=texts)
def test_it_is_symmetric_and_zero_only_for_equals(first, second):
    assert edit_distance(first, second) == edit_distance(second, first)
    assert (edit_distance(first, second) == 0) == (first == second)
    assert edit_distance(first, first) == 0


@LAW
@given(first=texts, second=texts, third=texts)
def test_a_detour_is_never_shorter(first, second, third):
    assert edit_distance(first, third) <= edit_distance(first, second) + edit_distance(second, third)


@LAW
@given(first=texts, second=texts)
def test_it_lies_between_the_difference_and_the_maximum_of_the_lengths(first, second):
    distance = edit_distance(first, second)
    assert abs(len(first) - len(second)) <= distance <= max(len(first), len(second))


def test_symbols_may_be_longer_than_a_letter():
    assert edit_distance(["K", "AE1", "T"], ["K", "AA1", "T", "S"]) == 2


OUTPUTS = ["K AE T", "D AO G", "B ER D", "F IH SH"]
ANSWERS = [["K AE T"], ["D AA G", "D AO G"], ["B ER D Z", "B AA R D"], ["F IY SH"]]


def test_an_output_is_right_if_it_equals_any_of_its_answers():
    assert exact_match(OUTPUTS, ANSWERS) == 100 * 2 / 4
    assert word_error_rate(OUTPUTS, ANSWERS) == 100 * 2 / 4


def test_edits_are_counted_against_the_nearest_answer_and_over_its_length():
    edits = 0 + 0 + 1 + 1  # B ER D lacks one symbol of B ER D Z and differs in two from B AA R D
    symbols = 3 + 3 + 4 + 3
    assert symbol_error_rate(OUTPUTS, ANSWERS) == pytest.approx(100 * edits / symbols)


def test_an_empty_output_costs_all_its_symbols():
    assert symbol_error_rate([""], [["A B C D"]]) == 100.0
    assert symbol_error_rate(["A B C D"], [["A B"]]) == 100.0


@pytest.mark.parametrize("rate", [exact_match, word_error_rate, symbol_error_rate])
def test_outputs_and_answers_must_be_as_many(rate):
    with pytest.raises(ValueError):
        rate(["a"], [["a"], ["b"]])


@LAW
@given(rows=st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=6))
def test_right_and_wrong_are_all_there_is(rows):
    outputs, answers = [row[0] for row in rows], [row[1] for row in rows]
    assert exact_match(outputs, answers) + word_error_rate(outputs, answers) == pytest.approx(100.0)
