"""With the same weights, our attention is PyTorch's; the fused kernel and the equation agree."""

import math

import pytest
import torch
from torch import nn

from helpers import greatest_difference, stir
from manyheads.attention import dot_product
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import EVERYTHING, Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.attention.recording import record_attention


@pytest.fixture(params=[0, dot_product.SHORT], ids=["fused", "short"], autouse=True)
def path(request, monkeypatch):
    """Take the fused kernel even for short sequences, or the equation, which is faster for them."""
    monkeypatch.setattr(dot_product, "SHORT", request.param)


WIDTH, HEADS, BATCH, TARGET, SOURCE = 24, 4, 3, 5, 7
LENGTHS = torch.tensor([SOURCE, 2, 4])
TARGET_LENGTHS = torch.tensor([TARGET, 1, 3])


def twins(*, bias: bool = True) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Return our attention and PyTorch's with the same weights."""
    ours = stir(MultiHeadAttention(WIDTH, HEADS, bias=bias), seed=1, gain=2.0)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.input_projection)
        theirs.out_proj.weight.copy_(ours.output.weight)
        if bias:
            theirs.in_proj_bias.copy_(ours.input_projection_bias)
            theirs.out_proj.bias.copy_(ours.output.bias)
    return ours, theirs


def random(*shape: int, seed: int = 2) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def self_masks() -> dict[str, tuple[Mask, dict[str, torch.Tensor]]]:
    """Return masks as we say them and as PyTorch does, where true means forbidden."""
    future = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
    padding = torch.arange(TARGET) >= TARGET_LENGTHS[:, None]
    return {
        "everything": (EVERYTHING, {}),
        "padding": (Mask.padding(TARGET_LENGTHS, TARGET), {"key_padding_mask": padding}),
        "causal": (Mask(causal=True), {"attn_mask": future}),
        "both": (
            Mask.padding(TARGET_LENGTHS, TARGET, causal=True),
            {"key_padding_mask": padding, "attn_mask": future},
        ),
    }


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", list(self_masks()))
def test_self_attention_equals_pytorchs_forward_and_backward(kind, bias):
    ours, theirs = twins(bias=bias)
    mask, their_mask = self_masks()[kind]
    inputs = random(BATCH, TARGET, WIDTH)
    expected, _ = theirs(inputs, inputs, inputs, need_weights=False, **their_mask)
    (wanted,) = torch.autograd.grad(expected.square().sum(), inputs)
    found = ours(inputs, mask)
    (gradient,) = torch.autograd.grad(found.square().sum(), inputs)
    assert greatest_difference(found, expected) < 1e-5
    assert greatest_difference(gradient, wanted) < 1e-5 * float(wanted.abs().max())


@pytest.mark.parametrize("kind", list(self_masks()))
def test_recorded_self_attention_equals_pytorchs_weights_of_every_head(kind):
    ours, theirs = twins()
    mask, their_mask = self_masks()[kind]
    inputs = random(BATCH, TARGET, WIDTH)
    expected, weights = theirs(inputs, inputs, inputs, need_weights=True, average_attn_weights=False, **their_mask)
    with record_attention(ours) as recording:
        found = ours(inputs, mask)
    assert recording[""].shape == (BATCH, HEADS, TARGET, TARGET)
    assert greatest_difference(recording[""], weights) < 1e-5
    assert greatest_difference(found, expected) < 1e-5


@pytest.mark.parametrize("padded", [True, False])
def test_attention_across_equals_pytorchs(padded):
    ours, theirs = twins()
    queries, memory = random(BATCH, TARGET, WIDTH), random(BATCH, SOURCE, WIDTH, seed=3)
    mask = Mask.padding(LENGTHS, SOURCE) if padded else EVERYTHING
    forbidden = torch.arange(SOURCE) >= LENGTHS[:, None] if padded else None
    expected, weights = theirs(
        queries, memory, memory, key_padding_mask=forbidden, need_weights=True, average_attn_weights=False
    )
    assert greatest_difference(ours.across(queries, ours.keys_values(memory), mask), expected) < 1e-5
    with record_attention(ours) as recording:
        exact = ours.across(queries, ours.keys_values(memory), mask)
    assert greatest_difference(exact, expected) < 1e-5
    assert greatest_difference(recording[""], weights) < 1e-5


def heads(*, queries: int, keys: int, width: int = 8) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return (
        random(BATCH, 2, queries, width, seed=4),
        random(BATCH, 2, keys, width, seed=5),
        random(BATCH, 2, keys, width, seed=6),
    )


CASES = {
    "everything": (TARGET, SOURCE, EVERYTHING),
    "padding": (TARGET, SOURCE, Mask.padding(LENGTHS, SOURCE)),
    "nothing for one row": (TARGET, SOURCE, Mask.padding(torch.tensor([3, 0, 5]), SOURCE)),
    "causal": (TARGET, TARGET, Mask(causal=True)),
    "causal, some keys remembered": (TARGET, SOURCE, Mask(causal=True)),
    "one query, all keys remembered": (1, SOURCE, Mask(causal=True)),
    "causal and padding": (SOURCE, SOURCE, Mask.padding(LENGTHS, SOURCE, causal=True)),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_fused_kernel_equals_the_equation(case):
    queries, keys, mask = CASES[case]
    attention = DotProductAttention()
    q, k, v = heads(queries=queries, keys=keys)
    exact = attention.weights(q, k, mask) @ v
    assert greatest_difference(attention(q, k, v, mask), exact) < 1e-5


def test_the_weights_equal_the_equation_written_out():
    q, k, _ = (part.detach() for part in heads(queries=2, keys=3, width=4))
    weights = DotProductAttention().weights(q, k, Mask.padding(torch.tensor([3, 2, 1]), 3))
    for row, length in enumerate([3, 2, 1]):
        for i in range(2):
            scores = [float((q[row, 0, i] * k[row, 0, j]).sum()) / math.sqrt(4) for j in range(length)]
            total = sum(math.exp(score) for score in scores)
            expected = [math.exp(score) / total for score in scores] + [0.0] * (3 - length)
            assert weights[row, 0, i].tolist() == pytest.approx(expected, abs=1e-6)


def nothing_seen_by_one_row() -> tuple[Mask, int]:
    return Mask.padding(torch.tensor([3, 0, 5]), SOURCE), 1


def test_a_row_that_sees_nothing_is_zero_on_the_fused_path():
    mask, blind = nothing_seen_by_one_row()
    q, k, v = heads(queries=TARGET, keys=SOURCE)
    out = DotProductAttention()(q, k, v, mask)
    assert out[blind].abs().max() == 0.0
    out.square().sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all()
        assert tensor.grad[blind].abs().max() == 0.0
        assert tensor.grad[0].abs().max() > 0.0


def test_a_row_that_sees_nothing_is_zero_on_the_exact_path():
    mask, blind = nothing_seen_by_one_row()
    q, k, v = heads(queries=TARGET, keys=SOURCE)
    weights = DotProductAttention().weights(q, k, mask)
    assert weights[blind].abs().max() == 0.0
    assert (weights @ v).isfinite().all()


def test_the_exact_path_equals_the_fused_one_backward_where_every_row_sees_something():
    mask = Mask.padding(torch.tensor([3, 1, 5]), SOURCE)
    q, k, v = heads(queries=TARGET, keys=SOURCE)
    attention = DotProductAttention()
    fused = torch.autograd.grad(attention(q, k, v, mask).square().sum(), (q, k, v))
    exact = torch.autograd.grad((attention.weights(q, k, mask) @ v).square().sum(), (q, k, v))
    for one, other in zip(fused, exact, strict=True):
        assert greatest_difference(one, other) < 1e-5


def test_a_row_that_sees_nothing_gives_no_nan_backward_on_the_exact_path():
    mask, blind = nothing_seen_by_one_row()
    q, k, v = heads(queries=TARGET, keys=SOURCE)
    (DotProductAttention().weights(q, k, mask) @ v).square().sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all()
        assert tensor.grad[blind].abs().max() == 0.0


def test_attention_dropout_acts_only_while_training():
    q, k, v = heads(queries=TARGET, keys=SOURCE)
    attention, plain = DotProductAttention(dropout=0.5), DotProductAttention()
    torch.manual_seed(1)
    assert greatest_difference(attention(q, k, v, EVERYTHING), plain(q, k, v, EVERYTHING)) > 1e-3
    attention.eval()
    assert greatest_difference(attention(q, k, v, EVERYTHING), plain(q, k, v, EVERYTHING)) == 0.0
