"""Relative sinusoidal positions: the four terms of the paper, one score after another, and its shift of rows."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, greatest_difference, stir
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.window import WindowAttention
from manyheads.positions.relative_sinusoidal import RelativeSinusoids, relative_shift

HEADS, WIDTH = 2, 8
HEAD_WIDTH = WIDTH // HEADS


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positions_in_double() -> RelativeSinusoids:
    return stir(RelativeSinusoids(WIDTH, HEADS), seed=3).double()


def sinusoid(distance: int) -> torch.Tensor:
    """The encoding of a distance i − j, dimension by dimension."""
    values = []
    for i in range(WIDTH // 2):
        angle = distance / 10000 ** (2 * i / WIDTH)
        values += [math.sin(angle), math.cos(angle)]
    return torch.tensor(values, dtype=torch.float64)


@given(queries=st.integers(1, 5), memory=st.integers(0, 6), seed=st.integers(0, 99))
@LAW
def test_the_shift_is_the_double_loop(queries, memory, seed):
    keys = queries + memory
    each = drawn(2, queries, queries + keys - 1, seed=seed)
    expected = torch.empty(2, queries, keys, dtype=torch.float64)
    for i in range(queries):
        for j in range(keys):
            # The first column is the distance of the first key from the last query; query i is at position memory + i.
            distance, first = j - (memory + i), -(keys - 1)
            expected[:, i, j] = each[:, i, distance - first]
    assert torch.equal(relative_shift(each, keys), expected)


@pytest.mark.parametrize("memory", [0, 3])
def test_scores_are_the_four_terms(memory: int):
    positions = positions_in_double()
    queries, keys = drawn(2, HEADS, 4, HEAD_WIDTH, seed=1), drawn(2, HEADS, 4 + memory, HEAD_WIDTH, seed=2)
    found = DotProductAttention().weights(queries, keys, Mask(causal=True), positions)
    projection = positions.projection.weight.view(HEADS, HEAD_WIDTH, WIDTH)
    for head in range(HEADS):
        u, v = positions.content_bias[head], positions.position_bias[head]
        for i in range(4):
            scores = []
            for j in range(memory + i + 1):
                relative = projection[head] @ sinusoid(memory + i - j)
                query, key = queries[:, head, i], keys[:, head, j]
                scores.append(((query * key).sum(-1) + query @ relative + key @ u + v @ relative) / HEAD_WIDTH**0.5)
            weights = torch.stack(scores, dim=-1).softmax(dim=-1)
            assert greatest_difference(found[:, head, i, : memory + i + 1], weights) < 1e-7  # sinusoids are float32
            assert (found[:, head, i, memory + i + 1 :] == 0).all()


def test_blocks_have_the_terms_of_the_whole_matrix():
    positions, length = positions_in_double(), 23
    queries, keys, values = (drawn(1, HEADS, length, HEAD_WIDTH, seed=seed) for seed in (1, 2, 3))
    window = WindowAttention(window=3)
    blocks = window.by_blocks(queries, keys, values, Mask(causal=True), positions)
    whole = window.by_definition(queries, keys, values, Mask(causal=True), positions)
    assert greatest_difference(blocks, whole) < 1e-9


def test_gradients_are_those_of_finite_differences():
    positions = positions_in_double()
    queries, keys = (drawn(1, HEADS, 3, HEAD_WIDTH, seed=seed).requires_grad_() for seed in (1, 2))
    distances = torch.arange(3) - torch.arange(3)[:, None]
    assert torch.autograd.gradcheck(lambda q, k: positions.scores(q, k, distances), (queries, keys))
