"""Laws of every generated task, and of those of symbols and numbers in particular."""

import doctest
import hashlib
import os
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyheads.data import generated as tasks
from manyheads.data.generated import (
    Addition,
    BinaryAddition,
    Copy,
    Duplicate,
    Parity,
    Recall,
    Reverse,
    Sort,
    task,
    task_names,
)
from manyheads.data.generated.random_examples import SPLITS, split_of
from manyheads.data.generated.sequences import alphabet
from manyheads.errors import ManyheadsError

NO_DEADLINE = settings(deadline=None)  # a busy machine is no failure
SEEDS = st.integers(min_value=0, max_value=2**40)
SEQUENCE_OPTIONS = st.builds(
    lambda shortest, more, symbols: {
        "min_length": shortest,
        "max_length": shortest + more,
        "symbols": symbols,
    },
    st.integers(min_value=3, max_value=8),
    st.integers(min_value=0, max_value=9),
    st.integers(min_value=5, max_value=100),
)

FINGERPRINT = """
import hashlib, sys
from manyheads.data.generated import task, task_names
assert not {"babel", "torch", "numpy"} & set(sys.modules), "importing the tasks must stay light"
for name in task_names():
    pairs = list(task(name).pairs("valid", count=50, seed=3))
    print(name, hashlib.sha256(repr(pairs).encode()).hexdigest())
"""


@pytest.mark.parametrize("name", task_names())
def test_asking_for_more_continues_the_same_pairs(name):
    for split in SPLITS:
        many = list(task(name).pairs(split, count=40))
        assert len(many) == 40
        assert list(task(name).pairs(split, count=15)) == many[:15]
        assert list(task(name).pairs(split, count=40, seed=2)) != many


def test_pairs_are_the_same_in_another_process():
    here = {
        name: hashlib.sha256(repr(list(task(name).pairs("valid", count=50, seed=3))).encode()).hexdigest()
        for name in task_names()
    }
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    lines = subprocess.run(
        [sys.executable, "-c", FINGERPRINT], env=environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert dict(line.split() for line in lines) == here


@pytest.mark.parametrize("name", task_names())
def test_no_source_is_in_two_splits_whatever_the_seeds(name):
    sources = {
        split: {pair.source for seed in (1, 2) for pair in task(name).pairs(split, count=300, seed=seed)}
        for split in SPLITS
    }
    assert not sources["train"] & sources["valid"]
    assert not sources["train"] & sources["test"]
    assert not sources["valid"] & sources["test"]


@pytest.mark.parametrize("name", task_names())
@pytest.mark.parametrize("split", ["valid", "test"])
def test_a_held_out_source_is_asked_once(name, split):
    sources = [pair.source for pair in task(name).pairs(split, count=500)]
    assert len(set(sources)) == len(sources)


def test_splits_have_their_shares():
    number = 20_000
    shares = Counter(split_of(f"example {index}") for index in range(number))
    assert shares["train"] / number == pytest.approx(0.90, abs=0.01)
    assert shares["valid"] / number == pytest.approx(0.05, abs=0.01)
    assert shares["test"] / number == pytest.approx(0.05, abs=0.01)


@NO_DEADLINE
@given(options=SEQUENCE_OPTIONS, seed=SEEDS)
def test_sequences_are_answered_rightly_and_within_their_bounds(options, seed):
    known = set(alphabet(options["symbols"]))
    rules = {
        Copy: lambda symbols: symbols,
        Reverse: lambda symbols: symbols[::-1],
        Sort: sorted,
        Duplicate: lambda symbols: symbols * 2,
    }
    for kind, rule in rules.items():
        for source, target in kind(**options).pairs("train", count=5, seed=seed):
            symbols = source.split(" ")
            assert set(symbols) <= known
            assert options["min_length"] <= len(symbols) <= options["max_length"]
            assert target.split(" ") == list(rule(symbols))


@NO_DEADLINE
@given(st.integers(min_value=2, max_value=26**2))
def test_an_alphabet_has_its_size_and_is_in_order(symbols):
    names = alphabet(symbols)
    assert len(set(names)) == symbols
    assert list(names) == sorted(names)


def test_every_length_is_as_likely():
    number = 10_000
    lengths = Counter(
        len(pair.source.split()) for pair in Copy(min_length=3, max_length=7).pairs("train", count=number)
    )
    assert set(lengths) == {3, 4, 5, 6, 7}
    assert all(times / number == pytest.approx(1 / 5, abs=0.03) for times in lengths.values())


@NO_DEADLINE
@given(least=st.integers(3, 40), more=st.integers(0, 5), seed=SEEDS)
def test_parity_is_that_of_the_ones(least, more, seed):
    for source, target in Parity(min_length=least, max_length=least + more).pairs("train", count=5, seed=seed):
        bits = source.split(" ")
        assert set(bits) <= {"0", "1"}
        assert least <= len(bits) <= least + more
        assert int(target) == sum(map(int, bits)) % 2


@NO_DEADLINE
@given(least=st.integers(2, 12), more=st.integers(0, 5), spare=st.integers(0, 30), seed=SEEDS)
def test_what_is_recalled_are_the_values_of_the_keys(least, more, spare, seed):
    kind = Recall(min_pairs=least, max_pairs=least + more, symbols=least + more + spare)
    for source, target in kind.pairs("train", count=5, seed=seed):
        symbols, answers = source.split(" "), target.split(" ")
        count = len(answers)
        assert least <= count <= least + more
        assert len(symbols) == 3 * count
        keys, values, asked = symbols[: 2 * count : 2], symbols[1 : 2 * count : 2], symbols[2 * count :]
        assert len({*keys, *values}) == 2 * count, "keys and values differ, and none occurs twice"
        assert sorted(asked) == sorted(keys)
        assert answers == [values[keys.index(key)] for key in asked]


def test_keys_and_orders_are_as_likely():
    asked = Counter(pair.source for pair in Recall(min_pairs=2, max_pairs=2, symbols=2).pairs("train", count=4000))
    assert len(asked) >= 6, "of eight, some are held out"
    assert all(times * len(asked) / 4000 == pytest.approx(1.0, abs=0.2) for times in asked.values())


def test_more_pairs_than_keys_are_refused():
    with pytest.raises(ManyheadsError, match=r"option 'symbols': 5 keys are too few for max_pairs, which is 6"):
        task("recall", max_pairs=6, symbols=5)


@NO_DEADLINE
@given(least=st.integers(1, 40), more=st.integers(0, 5), seed=SEEDS)
def test_sums_are_right_and_within_their_bounds(least, more, seed):
    for source, target in Addition(min_digits=least, max_digits=least + more).pairs("train", count=5, seed=seed):
        operands = source.split("+")
        assert sum(map(int, operands)) == int(target)
        assert [str(int(operand)) for operand in operands] == operands, "no leading zeros"
        assert all(least <= len(operand) <= least + more for operand in operands)


@NO_DEADLINE
@given(least=st.integers(1, 40), more=st.integers(0, 5), seed=SEEDS)
def test_binary_sums_are_right_and_have_the_digits_of_their_numbers_and_a_carry(least, more, seed):
    pairs = BinaryAddition(min_digits=least, max_digits=least + more).pairs("train", count=5, seed=seed)
    for source, target in pairs:
        left, right = source.split("+")
        assert len(left) == len(right) and least <= len(left) <= least + more
        carry, expected = 0, ""
        for one, other in zip(left, right, strict=True):  # as on paper, from the lowest bit
            carry, bit = divmod(int(one) + int(other) + carry, 2)
            expected += str(bit)
        assert target == expected + "1" * carry


@pytest.mark.parametrize("small", [Addition(max_digits=2), BinaryAddition(max_digits=6)])
def test_a_sum_is_not_trained_on_the_other_way_round(small):
    trained = {frozenset(pair.source.split("+")) for pair in small.pairs("train", count=20_000)}
    tested = {frozenset(pair.source.split("+")) for pair in small.pairs("test", count=200)}
    assert not trained & tested


def test_small_spaces_are_used_up_and_then_end_in_an_error():
    single = Copy(max_length=1, symbols=26)
    members = {split: {name for name in alphabet(26) if split_of(name) == split} for split in SPLITS}
    assert {pair.source for pair in single.pairs("train", count=2000)} == members["train"]
    for split in ("valid", "test"):
        size = len(members[split])
        assert {pair.source for pair in single.pairs(split, count=size)} == members[split]
        with pytest.raises(ManyheadsError, match=f"{split} split has too few .* {size} were found"):
            list(single.pairs(split, count=size + 1))


def test_what_was_found_before_the_error_is_not_lost():
    small = Copy(max_length=2, symbols=10)
    with pytest.raises(ManyheadsError) as caught:
        list(small.pairs("test", count=1000))
    found = int(str(caught.value).split("Ask for ")[1].split()[0])
    assert len(list(small.pairs("test", count=found))) == found
    assert len(list(islice(small.pairs("test", count=1000), found))) == found


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("revers", {}, "Did you mean 'reverse'"),
        ("copy", {"max_lenght": 3}, "option 'max_lenght': .* Did you mean 'max_length'"),
        ("copy", {"symbols": 1}, "option 'symbols': 1 .* whole number from 2"),
        ("copy", {"symbols": True}, "option 'symbols'"),
        ("sort", {"max_length": "ten"}, "option 'max_length': 'ten'"),
        ("reverse", {"min_length": 5, "max_length": 4}, "min_length.* more than max_length"),
        ("addition", {"max_digits": 0}, "option 'max_digits'"),
        ("binary_addition", {"min_digits": 5, "max_digits": 4}, "min_digits.* more than max_digits"),
        ("dates", {"locales": ["en-US"]}, "Did you mean 'en_US'"),
        ("dates", {"locales": "fr"}, "not a list"),
        ("dates", {"locales": []}, "not a list"),
        ("dates", {"locales": 7}, "not a list"),
        ("dates", {"first_year": 26}, "option 'first_year'"),
        ("dates", {"first_year": 2000, "last_year": 1999}, "first_year.* more than last_year"),
    ],
)
def test_mistakes_are_named_with_a_cure(name, options, message):
    with pytest.raises(ManyheadsError, match=message):
        task(name, **options)


@pytest.mark.parametrize("name", task_names())
def test_mistakes_in_a_request_are_named_before_the_first_pair(name):
    with pytest.raises(ManyheadsError, match="Did you mean 'train'"):
        task(name).pairs("trian", count=1)
    with pytest.raises(ManyheadsError, match="-1 pairs"):
        task(name).pairs("train", count=-1)


def test_nothing_is_asked_and_nothing_is_given():
    assert all(list(task(name).pairs("train", count=0)) == [] for name in task_names())


def test_the_example_of_the_package_is_true():
    assert doctest.testmod(tasks).failed == 0
    assert doctest.testmod(tasks).attempted > 0
