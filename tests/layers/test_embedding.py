"""Embeddings are scaled by √d_model, positions are added, dropout comes last."""

import math

import pytest
import torch
from torch import nn

from helpers import greatest_difference
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.layers.norms import Normalization
from manyheads.positions.learned import LearnedPositions
from manyheads.positions.sinusoidal import SinusoidalPositions, sinusoids

TOKENS = torch.tensor([[3, 1, 3], [0, 2, 4]])


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


def test_embeddings_equal_the_sum_written_out():
    vectors = token_vectors(5, 8)
    embedded = Embedding(vectors, SinusoidalPositions(8), dropout=0.0)(TOKENS, start=6)
    expected = math.sqrt(8) * vectors[TOKENS] + sinusoids(torch.tensor([6, 7, 8]), 8)
    assert greatest_difference(embedded, expected) < 1e-6


def test_without_positions_a_token_is_the_same_everywhere():
    embedded = Embedding(token_vectors(5, 8), None, dropout=0.0)(TOKENS)
    assert torch.equal(embedded[0, 0], embedded[0, 2])
    placed = Embedding(token_vectors(5, 8), LearnedPositions(8, maximum=3), dropout=0.0)(TOKENS)
    assert not torch.equal(placed[0, 0], placed[0, 2])


def test_dropout_acts_on_the_sum():
    vectors = nn.Parameter(torch.zeros(5, 8))
    embedding = Embedding(vectors, lambda start, stop: torch.ones(stop - start, 8), dropout=0.5)
    assert set(embedding(TOKENS).flatten().tolist()) == {0.0, 2.0}  # the positions are dropped too
    assert set(embedding.eval()(TOKENS).flatten().tolist()) == {1.0}


@pytest.mark.parametrize("width", [64, 512])
def test_token_vectors_have_the_variance_that_scaling_makes_one(width):
    vectors = token_vectors(2000, width).detach().double()
    deviation = width**-0.5
    error = deviation / math.sqrt(2 * vectors.numel())  # of the standard deviation of a normal sample
    assert abs(float(vectors.std()) - deviation) < 5 * error
    assert abs(float(vectors.mean())) < 5 * deviation / math.sqrt(vectors.numel())


def test_layer_norm_divides_by_the_root_of_variance_plus_epsilon():
    frame = AddNorm(3, dropout=0.0)
    inputs = torch.tensor([[[1.0, 2.0, 3.0]]])
    out = frame(inputs, lambda x: x)  # x + Sublayer(x) = 2, 4, 6: mean 4, variance (4 + 0 + 4) / 3
    root = math.sqrt(8 / 3 + 1e-5)
    assert out[0, 0].tolist() == pytest.approx([-2 / root, 0.0, 2 / root], abs=1e-6)


def test_pre_norm_leaves_the_residual_path_alone():
    frame = AddNorm(3, dropout=0.0, normalization=Normalization("pre"))
    inputs = torch.tensor([[[1.0, 2.0, 3.0]]])
    assert torch.equal(frame(inputs, torch.zeros_like), inputs)
    root = math.sqrt(2 / 3 + 1e-5)  # mean 2, variance (1 + 0 + 1) / 3
    expected = [1 - 1 / root, 2.0, 3 + 1 / root]
    assert frame(inputs, lambda x: x)[0, 0].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_dropout_acts_on_what_the_sublayer_adds(order):
    frame = AddNorm(400, dropout=0.5, normalization=Normalization(order))
    frame.norm = nn.Identity()
    out = frame(torch.zeros(1, 1, 400), torch.ones_like)
    assert set(out.flatten().tolist()) == {0.0, 2.0}
