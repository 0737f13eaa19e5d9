"""Models without a part: what is gone is gone, what is left computes as before, and narrow keys decode step by step."""

from __future__ import annotations

import pytest
import torch

from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.transformer import TransformerSettings
from manyheads.layers.feed_forward import FeedForward
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer
from manyheads.studies.parts import NarrowKeys, Part, narrow_keys, remove

PARTS: tuple[Part, ...] = ("scale", "residuals", "LayerNorm", "feed-forward", "positions")
VOCABULARY = 11


def transformer(seed: int = 1) -> Transformer:
    torch.manual_seed(seed)
    sizes = {"width": 16, "heads": 2, "encoder_layers": 2, "decoder_layers": 2, "feed_forward": 24, "dropout": 0.0}
    settings = TransformerSettings.model_validate(sizes)
    return Transformer.from_settings(settings, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY).eval()


def source() -> Tokens:
    return Tokens(torch.tensor([[4, 5, 6, 7], [8, 9, 3, 0]]), torch.tensor([4, 3]))


def check_that_steps_are_decoding(model: Transformer) -> None:
    memory, target = model.encode(source()), torch.tensor([[2, 4, 6, 5], [2, 9, 8, 3]])
    logits = model.logits(model.decode(target, memory).hidden)
    state = model.start(memory)
    for position, tokens in enumerate(target.unbind(1)):
        found, state = model.step(tokens, state)
        torch.testing.assert_close(found, logits[:, position], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_a_model_computes_something_else_step_by_step(part: Part):
    model, whole = transformer(), transformer()
    remove(part, model)
    assert not torch.allclose(model.encode(source()).states, whole.encode(source()).states)
    check_that_steps_are_decoding(model)


def test_without_the_scale_scores_are_plain_products():
    torch.manual_seed(2)
    attention = MultiHeadAttention(16, 2)
    queries, keys, values = torch.randn(3, 1, 2, 5, 8).unbind()
    scaled = attention.mechanism(queries * 8**0.5, keys, values, Mask())
    remove("scale", attention)
    torch.testing.assert_close(attention.mechanism(queries, keys, values, Mask()), scaled)
    torch.testing.assert_close(scaled, (queries @ keys.transpose(-2, -1)).softmax(dim=-1) @ values)


def test_without_residuals_a_sublayer_that_gives_nothing_leaves_nothing():
    model = transformer()
    remove("residuals", model)
    layer = model.encoder.layers[0]
    states = torch.randn(1, 3, 16)
    assert not layer.feed_forward_norm(states, torch.zeros_like).any()
    expected = layer.feed_forward_norm.norm(layer.feed_forward(states))
    torch.testing.assert_close(layer.feed_forward_norm(states, layer.feed_forward), expected)


def test_without_layer_norm_a_layer_is_a_sum():
    model = transformer()
    remove("LayerNorm", model)
    layer, states = model.encoder.layers[0], torch.randn(1, 3, 16)
    torch.testing.assert_close(layer.attention_norm(states, torch.ones_like), states + 1.0)


def test_without_feed_forward_layers_are_attention_alone():
    model = transformer()
    remove("feed-forward", model)
    assert not any(isinstance(module, FeedForward) for module in model.modules())
    layer, states = model.encoder.layers[0], torch.randn(1, 3, 16)
    attended = layer.attention_norm(states, lambda x: layer.attention(x, Mask()))
    torch.testing.assert_close(layer(states, Mask()), attended)


def test_without_positions_an_encoder_cannot_tell_the_order():
    model, order = transformer(), torch.tensor([2, 0, 3, 1])
    tokens, lengths = torch.tensor([[4, 5, 6, 7]]), torch.tensor([4])
    for is_removed in (False, True):
        found = model.encode(Tokens(tokens, lengths)).states[:, order]
        shuffled = model.encode(Tokens(tokens[:, order], lengths)).states
        assert torch.allclose(found, shuffled, atol=1e-5) == is_removed
        remove("positions", model)


def test_narrow_keys_of_the_usual_width_are_the_papers_attention():
    attention, narrow = MultiHeadAttention(16, 2), NarrowKeys(16, 2, key_width=8)
    narrow.load_state_dict(attention.state_dict())
    states = torch.randn(2, 5, 16)
    torch.testing.assert_close(narrow(states, Mask(causal=True)), attention(states, Mask(causal=True)))


def test_narrow_keys_have_fewer_weights_and_decode_step_by_step():
    model = transformer()
    narrow_keys(model, 3)
    found = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    assert len(found) == 6
    assert all(tuple(one.input_projection.shape) == (2 * 2 * 3 + 16, 16) for one in found)
    check_that_steps_are_decoding(model)
