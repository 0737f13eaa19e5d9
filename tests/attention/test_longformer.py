"""Global tokens beside a window: Hugging Face's Longformer, layer for layer."""

import pytest
import torch
from transformers import LongformerConfig
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

from helpers import greatest_difference, stir
from manyheads.attention.longformer import LongformerAttention
from manyheads.attention.masks import Mask
from manyheads.attention.window import WindowAttention

WIDTH, HEADS, ONE_SIDE = 16, 4, 4


@pytest.mark.parametrize("count", [1, 3])
def test_it_is_that_of_hugging_face(count: int):
    ours = stir(
        LongformerAttention(WIDTH, HEADS, window=WindowAttention(window=ONE_SIDE, global_tokens=count)), seed=7
    ).eval()
    config = LongformerConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        attention_window=[2 * ONE_SIDE],
        attention_probs_dropout_prob=0.0,
    )
    theirs = LongformerSelfAttention(config, layer_id=0).eval()
    with torch.no_grad():
        for suffix, weight, bias in (
            ("", ours.input_projection, ours.input_projection_bias),
            ("_global", ours.global_projection, ours.global_projection_bias),
        ):
            for name, part, number in zip(("query", "key", "value"), weight.chunk(3), bias.chunk(3), strict=True):
                layer = getattr(theirs, name + suffix)
                layer.weight.copy_(part)
                layer.bias.copy_(number)
        ours.output.weight.copy_(torch.eye(WIDTH))
        ours.output.bias.zero_()
    length, real = 32, 27
    inputs = torch.randn(2, length, WIDTH, generator=torch.Generator().manual_seed(3))
    facts = torch.zeros(2, length)
    facts[:, :count] = 10000.0
    facts[1, real:] = -10000.0
    with torch.inference_mode():
        expected = theirs(
            inputs,
            attention_mask=facts,
            is_index_masked=facts < 0,
            is_index_global_attn=facts > 0,
            is_global_attn=True,
        )[0]
        found = ours(inputs, Mask.padding(torch.tensor([length, real]), length))
    assert greatest_difference(found[0], expected[0]) < 1e-5
    assert greatest_difference(found[1, :real], expected[1, :real]) < 1e-5
