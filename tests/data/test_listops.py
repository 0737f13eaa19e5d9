"""ListOps: the answer is what the brackets say, and texts are as long as asked for."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyheads.data.generated.listops import ListOps
from manyheads.data.generated.random_examples import SPLITS
from manyheads.errors import ManyheadsError

FUNCTIONS = {
    "MAX": max,
    "MIN": min,
    "MED": lambda values: sorted(values)[(len(values) - 1) // 2],
    "SM": lambda values: sum(values) % 10,
}


def value(text: str) -> int:
    """Evaluate from the inside out: the innermost list has no other in it."""
    while not text.isdigit():
        text = re.sub(
            r"\[(MAX|MIN|MED|SM) ([\d ]+) \]",
            lambda found: str(FUNCTIONS[found[1]]([int(one) for one in found[2].split()])),
            text,
        )
    return int(text)


@settings(deadline=None, max_examples=10, derandomize=True)
@given(seed=st.integers(0, 2**30), split=st.sampled_from(SPLITS))
def test_the_answer_is_what_the_brackets_say(seed: int, split: str):
    for one in ListOps(min_length=20, max_length=80, depth=4).examples(split, count=5, seed=seed):
        assert one.answer == str(value(one.source))
        symbols = one.source.split()
        assert 20 <= len(symbols) <= 80
        depth = deepest = 0
        for symbol in symbols:
            depth += symbol.startswith("[") - (symbol == "]")
            deepest = max(deepest, depth)
        assert depth == 0
        assert deepest <= 4


def test_long_ones_are_as_in_long_range_arena():
    found = list(ListOps().examples("test", count=20))
    assert all(500 <= len(one.source.split()) <= 2000 for one in found)
    assert len({one.answer for one in found}) > 3
    assert found == list(ListOps().examples("test", count=20))


@pytest.mark.parametrize("options", [{"depth": 0}, {"arguments": 1}, {"min_length": 9, "max_length": 5}])
def test_impossible_options_are_refused(options: dict):
    with pytest.raises(ManyheadsError, match="task 'listops'"):
        ListOps(**options)
