"""A computed order is an order: everything once, the same whenever it is asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyheads.data.batches.shuffling import RandomOrder


@pytest.mark.parametrize("seed", [0, 1, -1, 2**70])
def test_every_small_size_is_a_bijection(seed: int):
    for size in range(1, 300):
        assert sorted(RandomOrder(size, seed)(np.arange(size))) == list(range(size))


@given(st.integers(1, 20_000), st.lists(st.integers(), max_size=3))
def test_any_size_and_seed_is_a_bijection(size: int, seed: list[int]):
    assert (np.sort(RandomOrder(size, *seed)(np.arange(size))) == np.arange(size)).all()


@given(st.integers(1, 2**40), st.integers(), st.data())
def test_an_entry_does_not_depend_on_the_others(size: int, seed: int, data: st.DataObject):
    entries = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=20))
    order = RandomOrder(size, seed)
    together = order(np.array(entries))
    assert ((together >= 0) & (together < size)).all()
    assert together.tolist() == [int(RandomOrder(size, seed)(np.array([entry]))[0]) for entry in entries]
    assert len(set(together.tolist())) == len(set(entries))


def test_orders_differ_by_seed_and_are_not_the_identity():
    orders = {tuple(RandomOrder(1000, *seed)(np.arange(1000)).tolist()) for seed in ((1,), (2,), (1, 0), (1, 1))}
    assert len(orders) == 4
    assert tuple(range(1000)) not in orders


def test_orders_are_as_mixed_as_random_ones():
    size = 10_000
    order = RandomOrder(size, 7)(np.arange(size))
    assert abs(np.corrcoef(np.arange(size), order)[0, 1]) < 0.05
    neighbours = np.abs(np.diff(order))
    assert abs(neighbours.mean() / (size / 3) - 1) < 0.05  # the mean distance of two random places is a third
    assert (order == np.arange(size)).sum() < 10  # one fixed point is expected


def test_an_order_is_the_same_on_every_machine():
    # If this changes, runs that were begun before can no longer be resumed.
    assert RandomOrder(10, 1)(np.arange(10)).tolist() == [7, 5, 8, 9, 2, 6, 3, 1, 0, 4]
