"""Attention treats every kind of positions alike, and those without terms keep the fused kernel."""

import pytest
import torch
import torch.nn.functional as F

from helpers import greatest_difference, stir
from manyheads.attention import dot_product
from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.positions.alibi import LinearBias
from manyheads.positions.interface import AttentionPositions
from manyheads.positions.relative import RelativePositions
from manyheads.positions.rotary import RotaryPositions
from manyheads.positions.t5_bias import BucketedBias

WIDTH, HEADS, LENGTH = 16, 4, 7
KINDS = {
    "relative": lambda: RelativePositions(WIDTH // HEADS, clip=3),
    "t5": lambda: BucketedBias(HEADS, buckets=8, reach=9, causal=False),
    "rotary": lambda: RotaryPositions(WIDTH // HEADS),
    "alibi": lambda: LinearBias(HEADS),
}


def attention(positions: AttentionPositions | None) -> MultiHeadAttention:
    return stir(MultiHeadAttention(WIDTH, HEADS, positions=positions), seed=3, gain=1.5).eval()


def inputs() -> torch.Tensor:
    return torch.randn(2, LENGTH, WIDTH, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_what_attention_computes(kind):
    plain, placed = attention(None)(inputs(), Mask()), attention(KINDS[kind]())(inputs(), Mask())
    assert greatest_difference(plain, placed) > 1e-3


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_the_fused_kernel_runs_where_positions_add_no_terms(kind, monkeypatch):
    calls = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(dot_product, "SHORT", 0)  # short sequences would not need the kernel
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k))
    attention(KINDS[kind]() if kind else None)(inputs(), Mask())
    assert len(calls) == (1 if kind in (None, "rotary") else 0)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"rotary"}))
def test_queries_and_keys_stay_as_they_are_where_positions_add_terms(kind):
    queries, keys = torch.randn(2, 1, HEADS, LENGTH, WIDTH // HEADS)
    assert KINDS[kind]().prepare(queries, keys, 3) == (queries, keys)


def test_rotary_positions_turn_queries_and_keys_from_the_given_start():
    rotary = RotaryPositions(WIDTH // HEADS)
    queries, keys = torch.randn(2, 1, HEADS, LENGTH, WIDTH // HEADS)
    turned = rotary.prepare(queries[:, :, :2], keys, 3)
    assert torch.equal(turned[0], rotary(queries[:, :, :2], 3))
    assert torch.equal(turned[1], rotary(keys, 3))
