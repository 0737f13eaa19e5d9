"""Masks know who may see whom, and say so densely."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.attention.masks import EVERYTHING, Mask


def allowed(mask: Mask, *, batch: int, queries: int, keys: int) -> torch.Tensor:
    """Return the dense mask as [B, T, S], broadcast."""
    dense = mask.dense(queries, keys)
    if dense is None:
        dense = torch.ones(1, dtype=torch.bool)
    return dense.broadcast_to(batch, 1, queries, keys)[:, 0]


@LAW
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    queries=st.integers(1, 6),
    more=st.integers(0, 5),
    causal=st.booleans(),
    padded=st.booleans(),
)
def test_a_key_is_seen_if_it_is_real_and_not_ahead(lengths, queries, more, causal, padded):
    keys = queries + more
    lengths = [min(length, keys) for length in lengths]
    mask = Mask.padding(torch.tensor(lengths), keys, causal=causal) if padded else Mask(causal=causal)
    seen = allowed(mask, batch=len(lengths), queries=queries, keys=keys)
    for row, length in enumerate(lengths):
        for i in range(queries):
            for j in range(keys):
                real = not padded or j < length
                behind = not causal or j <= i + (keys - queries)  # the last query stands beside the last key
                assert bool(seen[row, i, j]) == (real and behind)


def test_padding_alone_is_one_row_for_all_queries():
    mask = Mask.padding(torch.tensor([1, 3]), 3)
    assert mask.valid.tolist() == [[True, False, False], [True, True, True]]
    assert mask.dense(7, 3).shape == (2, 1, 1, 3)


def test_nothing_forbidden_is_none():
    assert EVERYTHING.dense(3, 4) is None
    assert EVERYTHING.additive(torch.zeros(1, 1, 3, 2), 4) is None
    assert Mask(causal=True).dense(1, 9) is None  # one query beside the last key sees all of them


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_additive_form_is_zero_or_minus_infinity(dtype):
    mask = Mask.padding(torch.tensor([2, 4]), 4, causal=True)
    additive = mask.additive(torch.zeros(2, 3, 4, 5, dtype=dtype), 4)
    assert additive.fully_masked is None
    bias = additive.bias
    assert bias.dtype == dtype
    dense = mask.dense(4, 4)
    assert torch.equal(bias == 0.0, dense)
    assert torch.equal(torch.isneginf(bias), ~dense)


def test_the_additive_form_is_rendered_once_per_shape_and_type():
    mask = Mask.padding(torch.tensor([2, 4]), 4, causal=True)
    scores = torch.zeros(2, 1, 4, 4)
    first = mask.additive(scores, 4)
    assert mask.additive(scores, 4) is first
    assert mask.additive(scores.double(), 4).bias.dtype == torch.float64
    assert mask.additive(scores[:, :, :2], 4).bias.shape[-2:] == (2, 4)


def test_a_query_that_sees_nothing_is_listed_and_its_row_is_a_number():
    additive = Mask.padding(torch.tensor([0, 2]), 3).additive(torch.zeros(2, 1, 4, 5), 3)
    assert additive.fully_masked[:, 0, 0, 0].tolist() == [True, False]
    assert additive.bias[0].abs().max() == 0.0
    assert torch.isneginf(additive.bias[1]).sum() == 1


def test_selected_rows_are_those_rows():
    mask = Mask.padding(torch.tensor([1, 2, 3]), 3, causal=True)
    chosen = mask.select(torch.tensor([2, 0, 2]))
    assert chosen.causal
    assert torch.equal(chosen.dense(3, 3), mask.dense(3, 3)[[2, 0, 2]])
    assert Mask(causal=True).select(torch.tensor([0, 0])).dense(2, 2).tolist() == [[True, False], [True, True]]
