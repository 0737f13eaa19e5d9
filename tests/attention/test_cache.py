"""The cache equals concatenation, however often it grows and whichever rows are picked."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.attention.cache import Cache, KeysValues

BATCH, HEADS, WIDTH = 3, 2, 4


def some(length: int, generator: torch.Generator, batch: int = BATCH) -> KeysValues:
    shape = (batch, HEADS, length, WIDTH)
    return KeysValues(torch.randn(shape, generator=generator), torch.randn(shape, generator=generator))


@LAW
@given(pieces=st.lists(st.integers(1, 20), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_appending_is_concatenation(pieces, seed):
    generator = torch.Generator().manual_seed(seed)
    cache, expected = Cache(), []
    for length in pieces:
        expected.append(some(length, generator))
        seen = cache.append(expected[-1])
        assert torch.equal(seen.keys, torch.cat([one.keys for one in expected], dim=2))
        assert torch.equal(seen.values, torch.cat([one.values for one in expected], dim=2))
        assert cache.length == sum(one.keys.shape[2] for one in expected)


@LAW
@given(
    before=st.integers(0, 20),
    after=st.integers(1, 20),
    rows=st.lists(st.integers(0, BATCH - 1), min_size=1, max_size=5),
    seed=st.integers(0, 1000),
)
def test_selecting_then_appending_is_concatenation_of_the_selected(before, after, rows, seed):
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.tensor(rows)
    cache = Cache()
    first = some(before, generator)
    if before:
        cache.append(first)
    second = some(after, generator, batch=len(rows))
    seen = cache.select(chosen).append(second)
    assert torch.equal(seen.keys, torch.cat([first.keys[chosen], second.keys], dim=2))
    assert torch.equal(seen.values, torch.cat([first.values[chosen], second.values], dim=2))


def test_a_selection_does_not_share_memory_with_its_origin():
    generator = torch.Generator().manual_seed(1)
    cache, everyone = Cache(), torch.arange(BATCH)
    first, one, other = some(3, generator), some(1, generator), some(1, generator)
    cache.append(first)
    copy = cache.select(everyone)
    copy.append(one)
    assert torch.equal(cache.append(other).keys, torch.cat([first.keys, other.keys], dim=2))
    assert torch.equal(copy.append(other).keys, torch.cat([first.keys, one.keys, other.keys], dim=2))
