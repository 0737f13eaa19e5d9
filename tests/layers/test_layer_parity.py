"""With the same weights, our encoder and decoder layers and stacks are PyTorch's."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import greatest_difference, stir
from manyheads.attention import dot_product
from manyheads.attention.masks import EVERYTHING, Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.decoder import Decoder, DecoderLayer
from manyheads.layers.encoder import Encoder, EncoderLayer
from manyheads.layers.feed_forward import FeedForward
from manyheads.layers.gated_feed_forward import GatedFeedForward
from manyheads.layers.norms import EPSILON, Normalization, NormKind


@pytest.fixture(params=[0, dot_product.SHORT], ids=["fused", "short"], autouse=True)
def path(request, monkeypatch):
    """Take the fused kernel even for short sequences, or the equation, which is faster for them."""
    monkeypatch.setattr(dot_product, "SHORT", request.param)


WIDTH, HEADS, INNER, BATCH, TARGET, SOURCE = 24, 4, 40, 3, 5, 7
LENGTHS = torch.tensor([SOURCE, 2, 4])
FUTURE = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
PADDING = torch.arange(SOURCE) >= LENGTHS[:, None]  # as PyTorch says it: true is forbidden
FORMS = [(order, activation) for order in ("post", "pre") for activation in ("relu", "gelu")]


def random(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def attention() -> MultiHeadAttention:
    return MultiHeadAttention(WIDTH, HEADS)


def encoder_layer(order: str, activation: str) -> EncoderLayer:
    return EncoderLayer(
        attention(), FeedForward(WIDTH, INNER, activation=activation), dropout=0.0, normalization=Normalization(order)
    )


def decoder_layer(order: str, activation: str) -> DecoderLayer:
    feed_forward = FeedForward(WIDTH, INNER, activation=activation)
    return DecoderLayer(attention(), attention(), feed_forward, dropout=0.0, normalization=Normalization(order))


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(ours.input_projection)
    theirs.in_proj_bias.copy_(ours.input_projection_bias)
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@torch.no_grad()
def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    """Copy the weights of one layer into PyTorch's."""
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms = (ours.self_attention_norm, ours.cross_attention_norm, ours.feed_forward_norm)
    else:
        copy_attention(ours.attention, theirs.self_attn)
        norms = (ours.attention_norm, ours.feed_forward_norm)
    for number, frame in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(frame.norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.widen.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.narrow.state_dict())


def pytorchs(kind: type, order: str, activation: str) -> nn.Module:
    return kind(WIDTH, HEADS, INNER, 0.0, activation, batch_first=True, norm_first=order == "pre")


def agree(found: torch.Tensor, expected: torch.Tensor, *inputs: torch.Tensor) -> None:
    """Compare outputs, and what flows back to the inputs."""
    assert greatest_difference(found, expected) < 1e-5
    weights = random(*found.shape, seed=9).detach()  # a plain sum of normalised outputs would have no gradient
    one = torch.autograd.grad((found * weights).sum(), inputs)
    other = torch.autograd.grad((expected * weights).sum(), inputs)
    for gradient, wanted in zip(one, other, strict=True):
        assert torch.allclose(gradient, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(("order", "activation"), FORMS)
def test_the_encoder_layer_equals_pytorchs(order, activation, padded):
    ours = stir(encoder_layer(order, activation), seed=1)
    theirs = pytorchs(nn.TransformerEncoderLayer, order, activation)
    copy_layer(ours, theirs)
    states = random(BATCH, SOURCE, WIDTH, seed=2)
    mask = Mask.padding(LENGTHS, SOURCE) if padded else EVERYTHING
    expected = theirs(states, src_key_padding_mask=PADDING if padded else None)
    agree(ours(states, mask), expected, states)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(("order", "activation"), FORMS)
def test_the_decoder_layer_equals_pytorchs(order, activation, padded):
    ours = stir(decoder_layer(order, activation), seed=1)
    theirs = pytorchs(nn.TransformerDecoderLayer, order, activation)
    copy_layer(ours, theirs)
    states, memory = random(BATCH, TARGET, WIDTH, seed=2), random(BATCH, SOURCE, WIDTH, seed=3)
    mask = Mask.padding(LENGTHS, SOURCE) if padded else EVERYTHING
    expected = theirs(states, memory, tgt_mask=FUTURE, memory_key_padding_mask=PADDING if padded else None)
    found = ours(states, Mask(causal=True), ours.cross_attention.keys_values(memory), mask)
    agree(found, expected, states, memory)


def test_the_decoder_layer_equals_pytorchs_with_target_padding_too():
    lengths = torch.tensor([TARGET, 1, 3])
    ours = stir(decoder_layer("post", "relu"), seed=1)
    theirs = pytorchs(nn.TransformerDecoderLayer, "post", "relu")
    copy_layer(ours, theirs)
    states, memory = random(BATCH, TARGET, WIDTH, seed=2), random(BATCH, SOURCE, WIDTH, seed=3)
    expected = theirs(states, memory, tgt_mask=FUTURE, tgt_key_padding_mask=torch.arange(TARGET) >= lengths[:, None])
    mask = Mask.padding(lengths, TARGET, causal=True)
    agree(ours(states, mask, ours.cross_attention.keys_values(memory), EVERYTHING), expected, states, memory)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_the_encoder_stack_equals_pytorchs(order):
    layers = [encoder_layer(order, "relu") for _ in range(3)]
    ours = stir(Encoder(layers, width=WIDTH, normalization=Normalization(order)), seed=1)
    theirs = nn.TransformerEncoder(
        pytorchs(nn.TransformerEncoderLayer, order, "relu"),
        num_layers=3,
        norm=nn.LayerNorm(WIDTH) if order == "pre" else None,
        enable_nested_tensor=False,
    )
    copy_stack(ours, theirs)
    states = random(BATCH, SOURCE, WIDTH, seed=2)
    agree(ours(states, Mask.padding(LENGTHS, SOURCE)), theirs(states, src_key_padding_mask=PADDING), states)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_the_decoder_stack_equals_pytorchs(order):
    layers = [decoder_layer(order, "relu") for _ in range(3)]
    ours = stir(Decoder(layers, width=WIDTH, normalization=Normalization(order)), seed=1)
    theirs = nn.TransformerDecoder(
        pytorchs(nn.TransformerDecoderLayer, order, "relu"),
        num_layers=3,
        norm=nn.LayerNorm(WIDTH) if order == "pre" else None,
    )
    copy_stack(ours, theirs)
    states, memory = random(BATCH, TARGET, WIDTH, seed=2), random(BATCH, SOURCE, WIDTH, seed=3)
    expected = theirs(states, memory, tgt_mask=FUTURE, memory_key_padding_mask=PADDING)
    found = ours(states, Mask(causal=True), ours.keys_values(memory), Mask.padding(LENGTHS, SOURCE))
    agree(found, expected, states, memory)


def copy_stack(ours: Encoder | Decoder, theirs: nn.Module) -> None:
    for one, other in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(one, other)
    if theirs.norm is not None:
        theirs.norm.load_state_dict(ours.final_norm.state_dict())


def test_feed_forward_equals_equation_2_written_out():
    layer = stir(FeedForward(2, 3), seed=1)
    inputs = torch.tensor([[[0.5, -1.0]]])
    inner = [
        max(0.0, 0.5 * float(row[0]) - 1.0 * float(row[1]) + float(bias))
        for row, bias in zip(layer.widen.weight.detach(), layer.widen.bias.detach(), strict=True)
    ]
    expected = [
        sum(value * float(weight) for value, weight in zip(inner, row, strict=True)) + float(bias)
        for row, bias in zip(layer.narrow.weight.detach(), layer.narrow.bias.detach(), strict=True)
    ]
    assert layer(inputs)[0, 0].tolist() == pytest.approx(expected, abs=1e-6)


def test_swish_is_x_times_sigmoid_of_x():
    values = torch.linspace(-3, 3, 7)
    assert torch.allclose(FeedForward(2, 2, activation="swish").activation(values), values * values.sigmoid())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swish"])
def test_a_gated_network_is_the_product_of_two_layers_and_a_third(activation: str, bias: bool):
    layer = stir(GatedFeedForward(WIDTH, INNER, activation=activation, bias=bias), seed=1)
    inputs = torch.randn(2, 3, WIDTH)
    gate, widened = (F.linear(inputs, one.weight, one.bias) for one in (layer.gate, layer.widen))
    opened = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}[activation](gate)
    assert torch.allclose(layer(inputs), F.linear(opened * widened, layer.narrow.weight, layer.narrow.bias), atol=1e-6)
    assert (layer.narrow.bias is not None) == bias


def test_rms_norm_equals_its_equation():
    norm = stir(Normalization(kind="rms").norm(WIDTH), seed=1)
    inputs = torch.randn(2, 3, WIDTH)
    expected = norm.weight * inputs / (inputs.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt()
    assert torch.allclose(norm(inputs), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_only_pre_norm_ends_with_a_norm(kind: NormKind):
    inputs = torch.randn(2, 3, WIDTH)
    assert torch.equal(Normalization("post", kind).final_norm(WIDTH)(inputs), inputs)
    pre = Normalization("pre", kind)
    assert torch.equal(pre.final_norm(WIDTH)(inputs), pre.norm(WIDTH)(inputs))
