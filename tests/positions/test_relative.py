"""Positions by distance: the explicit formulas of their papers, other libraries' tables, and nothing but distance."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.t5.modeling_t5 import T5Attention

from helpers import LAW, greatest_difference, stir
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.positions.alibi import LinearBias, slopes
from manyheads.positions.interface import distances_of
from manyheads.positions.relative import RelativePositions
from manyheads.positions.rotary import RotaryPositions
from manyheads.positions.t5_bias import BucketedBias

HEADS, WIDTH = 4, 8


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("clip", [1, 3, 20])
@pytest.mark.parametrize("causal", [False, True])
def test_relative_positions_are_the_explicit_formula(clip: int, causal: bool):
    positions = stir(RelativePositions(WIDTH, clip=clip), seed=2).double()
    queries, keys, values = (drawn(2, HEADS, 7, WIDTH, seed=seed) for seed in (1, 2, 3))
    found = DotProductAttention()(queries, keys, values, Mask(causal=causal), positions)
    for i in range(7):
        seen = range(i + 1) if causal else range(7)
        rows = [max(-clip, min(clip, j - i)) + clip for j in seen]
        near_keys = torch.stack([keys[:, :, j] + positions.keys[row] for j, row in zip(seen, rows, strict=True)], dim=2)
        near_values = torch.stack(
            [values[:, :, j] + positions.values[row] for j, row in zip(seen, rows, strict=True)], dim=2
        )
        weights = torch.einsum("bhd,bhsd->bhs", queries[:, :, i], near_keys).div(math.sqrt(WIDTH)).softmax(-1)
        assert greatest_difference(found[:, :, i], torch.einsum("bhs,bhsd->bhd", weights, near_values)) < 1e-9


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (8, 20)])
def test_buckets_are_those_of_t5(causal: bool, buckets: int, reach: int):
    apart = torch.arange(-300, 301)
    ours = BucketedBias(HEADS, buckets=buckets, reach=reach, causal=causal).bucket(apart)
    theirs = T5Attention._relative_position_bucket(
        apart, bidirectional=not causal, num_buckets=buckets, max_distance=reach
    )
    assert (ours == theirs).all()


def test_slopes_are_those_of_the_paper():
    assert slopes(8) == [2**-h for h in range(1, 9)]
    assert slopes(16)[:3] == [2**-0.5, 2**-1, 2**-1.5]
    assert slopes(12) == slopes(8) + slopes(16)[0::2][:4]


def test_alibi_looks_back_with_the_slopes_of_the_paper():
    bias = LinearBias(8).scores(torch.empty(0), torch.empty(0), distances_of(torch.empty(5, 5)))
    for head, slope in enumerate(slopes(8)):
        for i in range(5):
            for j in range(i + 1):
                assert bias[head, i, j] == pytest.approx(-slope * (i - j))
    mirrored = bias.flip(-1, -2)
    assert greatest_difference(bias, mirrored) > 0.1  # what comes and what came are told apart
    assert greatest_difference(bias.flip(0), mirrored) == 0.0


@LAW
@given(start=st.integers(0, 5000), apart=st.integers(-40, 40))
def test_rotary_scores_depend_on_the_distance_alone(start: int, apart: int):
    rotary = RotaryPositions(WIDTH).double()
    query, key = drawn(1, 1, 1, WIDTH, seed=4), drawn(1, 1, 1, WIDTH, seed=5)
    first = max(0, -apart)
    near = (rotary(query, first) * rotary(key, first + apart)).sum()
    far = (rotary(query, first + start) * rotary(key, first + start + apart)).sum()
    assert float(near - far) == pytest.approx(0.0, abs=1e-5)
    assert float(rotary(query, start).norm() - query.norm()) == pytest.approx(0.0, abs=1e-6)


def test_rotary_is_a_rotation_of_neighbouring_pairs():
    turned = RotaryPositions(4)(torch.tensor([1.0, 0.0, 1.0, 0.0]).view(1, 1, 1, 4), start=3)[0, 0, 0]
    slow = 3 * 10000 ** (-2 / 4)
    assert turned.tolist() == pytest.approx([math.cos(3), math.sin(3), math.cos(slow), math.sin(slow)])


@pytest.mark.parametrize("make", [lambda: RelativePositions(WIDTH, clip=3), lambda: LinearBias(HEADS)])
def test_scores_depend_on_the_distance_alone(make):
    positions = stir(make(), seed=6).double()
    queries = drawn(1, HEADS, 1, WIDTH).expand(1, HEADS, 9, WIDTH)
    scores = positions.scores(queries, queries, distances_of(torch.empty(9, 9))).expand(1, HEADS, 9, 9)
    for offset in range(-8, 9):
        diagonal = scores.diagonal(offset, dim1=-2, dim2=-1)
        assert greatest_difference(diagonal, diagonal[..., :1].expand_as(diagonal)) < 1e-12


def test_one_query_of_many_keys_stands_where_the_last_key_does():
    assert distances_of(torch.empty(1, 4)).tolist() == [[-3, -2, -1, 0]]
    assert distances_of(torch.empty(2, 3)).tolist() == [[-1, 0, 1], [-2, -1, 0]]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"width": 12, "heads": 4, "positions": {"kind": "rotary"}}, "heads of an even width, not 3"),
        ({"positions": {"kind": "t5", "buckets": 32, "reach": 16}}, "reach 16 must be above half of the 32 buckets"),
        ({"positions": {"kind": "rotatory"}}, "rotary"),
        ({"positions": {"kind": "relative", "clip": 0}}, "positions.clip"),
    ],
)
def test_what_cannot_be_is_refused(model: dict, told: str):
    with pytest.raises(ManyheadsError, match=told):
        build_recipe({"name": "x", "data": {"train": {"task": "copy"}}, "model": model})
