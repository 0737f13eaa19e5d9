"""Query–key normalisation makes scores independent of the size of queries and keys."""

import pytest
import torch

from helpers import greatest_difference, stir
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.query_key_norm import EPSILON, QueryKeyNorm
from manyheads.attention.recording import record_attention
from manyheads.positions.rotary import RotaryPositions


def test_each_head_is_normalised_as_the_equation_says():
    norm = stir(QueryKeyNorm(4), seed=1)
    vectors = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 6, 4)
    for found, one, scale in zip(norm(*vectors), vectors, (norm.queries.weight, norm.keys.weight), strict=True):
        expected = scale * one / (one.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt()
        assert greatest_difference(found, expected) < 1e-6


@pytest.mark.parametrize("positions", [None, RotaryPositions(4)], ids=["none", "rotary"])
def test_larger_projections_do_not_change_the_weights(positions: RotaryPositions | None):
    attention = stir(MultiHeadAttention(12, 3, positions=positions, query_key_norm=QueryKeyNorm(4)), seed=2)
    inputs = torch.randn(2, 7, 12)
    with torch.no_grad():
        with record_attention(attention) as before:
            attention(inputs, Mask(causal=True))
        attention.input_projection[:24] *= 50
        assert attention.input_projection_bias is not None
        attention.input_projection_bias[:24] *= 50
        with record_attention(attention) as after:
            attention(inputs, Mask(causal=True))
    (one,), (other,) = before.values(), after.values()
    assert greatest_difference(one, other) < 1e-3
