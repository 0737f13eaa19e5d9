"""Sizes, sharing and initial weights of the Transformer."""

import math

import pytest
import torch

from helpers import VOCABULARY, batch_of, tiny_settings
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.errors import ManyheadsError
from manyheads.layers.feed_forward import FeedForward
from manyheads.models.build import build_model
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer
from manyheads.positions.sinusoidal import SinusoidalPositions

# Width, feed-forward, layers and heads; base and big are table 3 of the paper.
PRESETS = {
    "tiny": (128, 256, 4, 4),
    "small": (256, 1024, 3, 4),
    "base": (512, 2048, 6, 8),
    "big": (1024, 4096, 6, 16),
}


def count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def stack_parameters(width: int, inner: int, layers: int) -> int:
    """Return the parameters of encoder and decoder together, with post-norm."""
    attention = 4 * (width * width + width)  # queries, keys, values and W_O, each with a bias
    feed_forward = width * inner + inner + inner * width + width
    norm = 2 * width
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return layers * (encoder + decoder)


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_has_the_parameters_that_its_sizes_give(name):
    vocabulary = 37_000
    width, inner, layers, heads = PRESETS[name]
    with torch.device("meta"):
        model = getattr(Transformer, name)(vocabulary)
    assert count(model) == vocabulary * width + stack_parameters(width, inner, layers)
    attentions = [part for part in model.modules() if isinstance(part, MultiHeadAttention)]
    assert len(attentions) == 3 * layers
    assert {part.heads for part in attentions} == {heads}


@pytest.mark.parametrize(("tie", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_tying_decides_how_many_embedding_matrices_there_are(tie, matrices):
    shape = tiny_settings(tie=tie)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    assert count(model) == matrices * VOCABULARY * 16 + stack_parameters(16, 32, 2)
    assert len({id(model.source.vectors), id(model.target.vectors), id(model.output_vectors)}) == matrices
    if matrices < 3:
        assert model.target.vectors is model.output_vectors


def test_three_way_tying_is_one_parameter_that_hears_of_all_three_uses():
    shape = tiny_settings(tie="all")
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    names = [name for name, parameter in model.named_parameters() if parameter.shape[0] == VOCABULARY]
    assert len(names) == 1
    source = Tokens(torch.tensor([[4, 3]]), torch.tensor([2]))
    hidden = model.decode(torch.tensor([[2, 5]]), model.encode(source)).hidden
    model.logits(hidden)[0, 0, 6].backward()
    touched = model.output_vectors.grad.abs().sum(dim=1).nonzero()[:, 0].tolist()
    assert touched == [2, 3, 4, 6]  # the target seen at position 0, both source tokens, and the output's row


def test_vocabularies_of_different_sizes():
    shape = tiny_settings(tie="target", output_bias=True)
    model = Transformer.from_settings(shape, source_vocabulary=7, target_vocabulary=9)
    assert model.source.vectors.shape == (7, 16)
    assert model.target.vectors.shape == (9, 16)
    assert model.output_bias.shape == (9,)
    assert count(model) == (7 + 9) * 16 + 9 + stack_parameters(16, 32, 2)


def test_pre_norm_adds_one_norm_on_top_of_each_stack():
    model = Transformer.from_settings(tiny_settings(norm="pre"), source_vocabulary=5, target_vocabulary=5)
    assert count(model) == 5 * 16 + stack_parameters(16, 32, 2) + 2 * (2 * 16)


def test_learned_positions_are_a_table_for_each_side():
    shape = tiny_settings(positions={"kind": "learned", "maximum": 6})
    model = Transformer.from_settings(shape, source_vocabulary=11, target_vocabulary=11)
    assert count(model) == 11 * 16 + 2 * 6 * 16 + stack_parameters(16, 32, 2)
    with pytest.raises(ManyheadsError, match="7 tokens"):
        model.encode(batch_of([[4] * 6]))


def test_the_builder_builds_what_the_configuration_names_and_takes_no_memory_on_meta():
    config = TranslationConfig(model=tiny_settings(tie="none"), source_vocabulary=7, target_vocabulary=9)
    built, drawing = build_model(config), build_model(config, device="meta")
    assert {name: p.shape for name, p in built.named_parameters()} == {
        name: p.shape for name, p in drawing.named_parameters()
    }
    assert all(parameter.is_meta for parameter in drawing.parameters())


@pytest.fixture(scope="module")
def fresh() -> Transformer:
    """A model wide enough for statistics, as it was drawn."""
    torch.manual_seed(1)
    shape = tiny_settings(width=64, feed_forward=160, tie="all")
    return Transformer.from_settings(shape, source_vocabulary=500, target_vocabulary=500)


def within_glorot(weights: torch.Tensor) -> bool:
    """Whether weights [out, in] fill, and do not leave, the interval of Glorot and Bengio's uniform distribution."""
    bound = math.sqrt(6 / (weights.shape[0] + weights.shape[1]))
    size = weights.numel()
    # The largest of n uniform numbers misses the bound by x with probability (1 − x)^n: less than e^−20 at 20 / n.
    fills = float(weights.abs().max()) > bound * (1 - 20 / size)
    # A uniform variable on ±b has variance b²/3, and its square has variance 4b⁴/45.
    variance = float(weights.double().square().mean())
    fair = abs(variance - bound**2 / 3) < 5 * math.sqrt(4 * bound**4 / 45 / size)
    return float(weights.abs().max()) <= bound and fills and fair


def test_each_projection_of_an_attention_is_drawn_for_itself(fresh):
    attentions = [part for part in fresh.modules() if isinstance(part, MultiHeadAttention)]
    assert attentions
    for attention in attentions:
        for projection in (*attention.input_projection.detach().chunk(3), attention.output.weight.detach()):
            assert projection.shape == (64, 64)
            assert within_glorot(projection)
        assert not attention.input_projection_bias.any() and not attention.output.bias.any()
    # The three together, drawn as one matrix, would have a smaller bound and fail:
    assert not within_glorot(attentions[0].input_projection.detach())


def test_feed_forward_weights_are_glorot_and_biases_zero(fresh):
    layers = [part for part in fresh.modules() if isinstance(part, FeedForward)]
    assert layers
    for layer in layers:
        assert within_glorot(layer.widen.weight.detach()) and within_glorot(layer.narrow.weight.detach())
        assert not layer.widen.bias.any() and not layer.narrow.bias.any()


def test_embeddings_are_drawn_from_a_normal_of_variance_one_over_width(fresh):
    vectors = fresh.output_vectors.detach().double()
    deviation = 64**-0.5
    assert abs(float(vectors.std()) - deviation) < 5 * deviation / math.sqrt(2 * vectors.numel())


def test_norms_begin_as_the_identity_and_the_output_bias_as_zero():
    model = Transformer.from_settings(tiny_settings(output_bias=True), source_vocabulary=5, target_vocabulary=5)
    norms = [part for part in model.modules() if isinstance(part, torch.nn.LayerNorm)]
    assert len(norms) == 2 * 2 + 2 * 3
    assert all((norm.weight == 1.0).all() and not norm.bias.any() for norm in norms)
    assert not model.output_bias.any()


def test_dropout_of_the_settings_reaches_every_place():
    shape = tiny_settings(dropout=0.25, attention={"dropout": 0.125})
    model = Transformer.from_settings(shape, source_vocabulary=5, target_vocabulary=5)
    probabilities = [part.probability for part in model.modules() if hasattr(part, "probability")]
    assert probabilities == [0.25] * (2 + 2 * 2 + 2 * 3)  # two embeddings, two and three sublayers in each layer
    mechanisms = [part.mechanism for part in model.modules() if isinstance(part, MultiHeadAttention)]
    assert [mechanism.dropout for mechanism in mechanisms] == [0.125] * (3 * 2)


def test_the_sinusoidal_table_is_not_among_the_weights():
    model = Transformer.from_settings(tiny_settings(), source_vocabulary=5, target_vocabulary=5)
    assert isinstance(model.source.positions, SinusoidalPositions)
    assert not [name for name in model.state_dict() if "positions" in name]


def test_tokens_are_padded_on_the_right_with_their_lengths():
    tokens = Tokens.pad([[4, 5, 6], [], [7]], padding=0)
    assert tokens.ids.tolist() == [[4, 5, 6], [0, 0, 0], [7, 0, 0]]
    assert tokens.lengths.tolist() == [3, 0, 1]
