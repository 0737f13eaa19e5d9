"""Every mechanism: its limits, its definition, its gradients, and how its error falls."""

import math

import pytest
import torch
from torch import Tensor

from helpers import greatest_difference, stir
from manyheads.attention.bigbird import BigBirdAttention
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.hashing import HashingAttention
from manyheads.attention.kernel import CHUNK
from manyheads.attention.linear import LinearAttention
from manyheads.attention.linformer import LinformerAttention
from manyheads.attention.masks import Mask
from manyheads.attention.performer import PerformerAttention, orthogonal_features
from manyheads.attention.window import WindowAttention
from manyheads.errors import ManyheadsError
from manyheads.positions.alibi import LinearBias
from manyheads.positions.interface import AttentionPositions
from manyheads.positions.relative import RelativePositions
from manyheads.positions.t5_bias import BucketedBias

HEADS, WIDTH = 3, 8
CLOSE = 1e-9  # in float64


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sequences(length: int, batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values."""
    return tuple(drawn(batch, HEADS, length, WIDTH, seed=seed) for seed in (1, 2, 3))


def masks(length: int) -> list[Mask]:
    """Return masks without and with padding, looking ahead and not."""
    lengths = torch.tensor([length, max(1, length - 9)])
    return [
        Mask(),
        Mask(causal=True),
        Mask.padding(lengths, length),
        Mask.padding(lengths, length, causal=True),
    ]


class ContentBias(AttentionPositions):
    """A term that depends on queries, keys and distances, as that of Transformer-XL does."""

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        return keys.sum(dim=-1)[..., None, :] + queries.sum(dim=-1)[..., None] / (1 + distances.abs())


def terms() -> list:
    """Return every term that positions add, and none."""
    return [
        None,
        stir(RelativePositions(WIDTH, clip=3), seed=2).double(),
        stir(BucketedBias(HEADS, buckets=8, reach=9, causal=False), seed=3).double(),
        LinearBias(HEADS).double(),
        ContentBias(),
    ]


PATTERNS = [
    WindowAttention(window=3),
    WindowAttention(window=4, dilation=3),
    WindowAttention(window=3, global_tokens=2),
    WindowAttention(window=2, dilation=2, global_tokens=5),
    BigBirdAttention(block=4, random_blocks=2),
    BigBirdAttention(block=3, random_blocks=0, global_blocks=2),
    BigBirdAttention(block=5, random_blocks=1, seed=9),
]


@pytest.mark.parametrize("number", range(len(PATTERNS)))
@pytest.mark.parametrize("length", [1, 7, 40, 61])
def test_blocks_compute_the_definition(number: int, length: int):
    mechanism, (queries, keys, values) = PATTERNS[number], sequences(length)
    for mask in masks(length):
        for term in terms():
            expected = mechanism.by_definition(queries, keys, values, mask, term)
            assert greatest_difference(mechanism(queries, keys, values, mask, term), expected) < CLOSE


@pytest.mark.parametrize("number", range(len(PATTERNS)))
@pytest.mark.parametrize("length", [2, 7, 40])
def test_the_last_query_alone_computes_the_definition(number: int, length: int):
    mechanism, (queries, keys, values) = PATTERNS[number], sequences(length)
    for mask in masks(length):
        for term in terms():
            expected = mechanism.by_definition(queries[:, :, -1:], keys, values, mask, term)
            found = mechanism(queries[:, :, -1:], keys, values, mask, term)
            assert greatest_difference(found, expected) < CLOSE


@pytest.mark.parametrize("number", range(len(PATTERNS)))
def test_blocks_are_really_used(number: int, monkeypatch: pytest.MonkeyPatch):
    mechanism = PATTERNS[number]
    monkeypatch.setattr(type(mechanism), "by_definition", None)
    mechanism(*sequences(61), Mask())


def test_a_window_as_wide_as_the_sequence_is_full_attention():
    queries, keys, values = sequences(20)
    for mask in masks(20):
        expected = DotProductAttention()(queries, keys, values, mask)
        assert greatest_difference(WindowAttention(window=20)(queries, keys, values, mask), expected) < CLOSE
    blocks = WindowAttention(window=12)  # two blocks, and every key in one of them or its neighbours
    first = slice(0, 9)
    expected = DotProductAttention()(queries[:, :, first], keys[:, :, first], values[:, :, first], Mask())
    found = blocks(queries[:, :, first], keys[:, :, first], values[:, :, first], Mask())
    assert greatest_difference(found, expected) < CLOSE


def test_bigbird_with_all_blocks_is_full_attention():
    queries, keys, values = sequences(32)
    for mask in masks(32):
        expected = DotProductAttention()(queries, keys, values, mask)
        mechanism = BigBirdAttention(block=4, random_blocks=8)
        assert greatest_difference(mechanism(queries, keys, values, mask), expected) < CLOSE
        assert greatest_difference(mechanism.by_blocks(queries, keys, values, mask, None), expected) < CLOSE


def test_bigbird_sees_what_the_paper_says():
    seen = BigBirdAttention(block=2, random_blocks=2).allowed(40, 40, Mask(), torch.device("cpu"))[0, 0]
    blocks = seen[::2, ::2]
    assert (seen == blocks.repeat_interleave(2, 0).repeat_interleave(2, 1)).all()
    assert blocks[0].all()
    assert blocks[:, 0].all()
    for i in range(2, 19):
        assert blocks[i, i - 1 : i + 2].all()
        assert blocks[i].sum() == 1 + 3 + 2
    other = BigBirdAttention(block=2, random_blocks=2, seed=5).allowed(40, 40, Mask(), torch.device("cpu"))[0, 0]
    assert (other != seen).any()
    spread = torch.stack([blocks[i] for i in range(20)]).float().mean(dim=0)[4:-4]
    assert spread.min() > 0.15  # nobody is forgotten


@pytest.mark.parametrize("shared", [True, False])
def test_linformer_with_the_identity_is_full_attention(shared: bool):
    queries, keys, values = sequences(12)
    mechanism = LinformerAttention(HEADS, rank=12, length=12, shared=shared).double()
    with torch.no_grad():
        for mixtures in (mechanism.keys, mechanism.values):
            mixtures.copy_(torch.eye(12).expand_as(mixtures))
    expected = DotProductAttention()(queries, keys, values, Mask())
    assert greatest_difference(mechanism(queries, keys, values, Mask()), expected) < CLOSE


def test_linformer_does_not_see_padding_and_says_what_is_too_long():
    queries, keys, values = sequences(12)
    mechanism = LinformerAttention(HEADS, rank=4, length=16).double()
    lengths = torch.tensor([7, 7])
    found = mechanism(queries, keys, values, Mask.padding(lengths, 12))[:, :, :7]
    alone = mechanism(*(one[:, :, :7] for one in (queries, keys, values)), Mask())
    assert greatest_difference(found, alone) < CLOSE
    with pytest.raises(ManyheadsError, match=r"model.attention.length: a sequence of 17 tokens"):
        mechanism(*sequences(17), Mask())


def test_hashing_in_one_chunk_is_full_attention_among_directions_but_for_oneself():
    queries, _, values = sequences(10)
    for mask in masks(10):
        found = HashingAttention(chunk=16, rounds=2)(queries, queries, values, mask)
        directions = queries / queries.norm(dim=-1, keepdim=True)
        scores = queries @ directions.transpose(-2, -1) / math.sqrt(WIDTH) - 1e5 * torch.eye(10, dtype=torch.float64)
        dense = mask.dense(10, 10)
        if dense is not None:
            scores = scores.masked_fill(~dense, -torch.inf)
        assert greatest_difference(found, scores.softmax(dim=-1) @ values) < CLOSE


@pytest.mark.parametrize("causal", [False, True])
def test_hashing_looks_at_the_own_bucket_alone(causal: bool):
    queries, _, values = sequences(60)
    mask = Mask.padding(torch.tensor([60, 50]), 60, causal=causal)
    mechanism = HashingAttention(chunk=10, rounds=1)
    weights = mechanism.weights(queries, queries, mask)
    assert greatest_difference(weights @ values, mechanism(queries, queries, values, mask)) < CLOSE
    buckets = mechanism.buckets_of(queries, 0)
    same = buckets[..., :, None] == buckets[..., None, :]
    assert (weights[~same] == 0).all()
    assert (weights[1, :, :, 50:] == 0).all()
    if causal:
        assert (weights.triu(1) == 0).all()
    sums = weights.sum(dim=-1)
    assert greatest_difference(sums[0], torch.ones_like(sums[0])) < CLOSE
    assert greatest_difference(sums[1, :, :50], torch.ones_like(sums[1, :, :50])) < CLOSE


def test_more_rounds_of_hashing_come_closer_to_full_attention():
    queries, _, values = sequences(64, batch=4)
    exact = HashingAttention(chunk=64, rounds=1)(4 * queries, queries, values, Mask())
    errors = []
    for rounds in (1, 4, 16):
        found = HashingAttention(chunk=8, rounds=rounds)(4 * queries, queries, values, Mask())
        errors.append(float((found - exact).norm()))
    assert errors[0] > errors[1] > errors[2]


KERNELS = [LinearAttention(), PerformerAttention(WIDTH, features=24).double().eval()]


@pytest.mark.parametrize("number", range(len(KERNELS)))
@pytest.mark.parametrize("length", [1, 7, CHUNK, CHUNK + 1, 3 * CHUNK - 2])
def test_sums_compute_the_implied_weights(number: int, length: int):
    mechanism, (queries, keys, values) = KERNELS[number], sequences(length)
    for mask in masks(length):
        weights = mechanism.weights(queries, keys, mask)
        assert greatest_difference(mechanism(queries, keys, values, mask), weights @ values) < CLOSE
        if mask.valid is None:
            assert greatest_difference(weights.sum(dim=-1), torch.ones(2, HEADS, length).double()) < CLOSE
        if mask.causal:
            assert (weights.triu(1) == 0).all()


def test_linear_attention_is_its_formula():
    queries, keys, values = sequences(9)
    features = [torch.where(x > 0, x + 1, x.exp()) for x in (queries, keys)]
    similar = features[0] @ features[1].transpose(-2, -1)
    expected = similar / similar.sum(dim=-1, keepdim=True) @ values
    assert greatest_difference(LinearAttention()(queries, keys, values, Mask()), expected) < CLOSE


def test_performers_error_falls_like_one_over_the_root_of_its_features():
    queries, keys, values = sequences(16)
    queries, keys = queries / 4, keys / 4  # the features' variance grows like exp(|q + k|²)
    exact = DotProductAttention()(queries, keys, values, Mask())
    counts = [32, 128, 512, 2048]
    errors = []
    for count in counts:
        found = [
            PerformerAttention(WIDTH, features=count, seed=seed).double().eval()(queries, keys, values, Mask())
            for seed in range(12)
        ]
        errors.append(float(torch.stack([(one - exact).square().mean() for one in found]).mean().sqrt()))
    slope = torch.linalg.lstsq(
        torch.stack((torch.tensor(counts).log(), torch.ones(4)), dim=1).double(),
        torch.tensor(errors).log()[:, None].double(),
    ).solution[0]
    assert -0.65 < float(slope) < -0.35


def test_random_features_are_orthogonal_and_as_long_as_gaussian_ones():
    vectors = orthogonal_features(4000, 16, seed=3)
    block = torch.nn.functional.normalize(vectors[:16], dim=-1)
    assert greatest_difference(block @ block.T, torch.eye(16).double()) < CLOSE
    assert float(vectors.square().sum(dim=-1).mean()) == pytest.approx(16, rel=0.05)


def test_performer_is_stable_for_large_scores():
    queries, keys, values = (30 * one.float() for one in sequences(70))
    mechanism = PerformerAttention(WIDTH, features=64).eval()
    for mask in masks(70):
        assert mechanism(queries, keys, values, mask).isfinite().all()


def test_performer_draws_anew_in_training_alone_and_the_same_after_a_resume():
    queries, keys, values = (one.float() for one in sequences(5))
    first, second = (PerformerAttention(WIDTH, features=16, redraw=10, seed=4) for _ in range(2))
    early = first(queries, keys, values, Mask())
    first.at_step(9)
    assert greatest_difference(first(queries, keys, values, Mask()), early) == 0
    first.at_step(25)
    later = first(queries, keys, values, Mask())
    assert greatest_difference(later, early) > 1e-3
    second.at_step(29)
    assert greatest_difference(second(queries, keys, values, Mask()), later) == 0
    assert greatest_difference(first.eval()(queries, keys, values, Mask()), early) == 0


EVERY = [
    DotProductAttention(),
    WindowAttention(window=2),
    WindowAttention(window=2, dilation=2, global_tokens=2),
    BigBirdAttention(block=2, random_blocks=1),
    LinearAttention(),
    PerformerAttention(WIDTH, features=12).double(),
    LinformerAttention(HEADS, rank=4, length=16).double(),
    HashingAttention(chunk=4, rounds=2),
]


@pytest.mark.parametrize("number", range(len(EVERY)))
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_those_of_finite_differences(number: int, causal: bool):
    mechanism = EVERY[number]
    if causal and isinstance(mechanism, LinformerAttention):
        return
    mask = Mask.padding(torch.tensor([13]), 14, causal=causal)
    inputs = [drawn(1, HEADS, 14, WIDTH, seed=seed).requires_grad_() for seed in (1, 2, 3)]

    def outputs(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        if isinstance(mechanism, HashingAttention):
            # The buckets are held fixed: a small change of a query moves none of these.
            return mechanism(queries, queries, values, mask)
        return mechanism(queries, keys, values, mask)

    assert torch.autograd.gradcheck(outputs, inputs, fast_mode=True)
