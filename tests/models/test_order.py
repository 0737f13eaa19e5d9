"""Order is known by positions alone: without them, the encoder is permutation equivariant."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, VOCABULARY, batch_of, greatest_difference, stir, tiny, tiny_settings, words
from manyheads.layers.embedding import Embedding
from manyheads.models.transformer import Transformer

CLOSE = 1e-5


@pytest.fixture(scope="module", params=["post", "pre", "learned", "relative", "t5", "rotary", "alibi"])
def model(request) -> Transformer:
    return tiny(request.param) if request.param in ("post", "pre") else tiny("post", request.param)


@pytest.fixture(scope="module", params=["post", "pre"])
def without_positions(request) -> Transformer:
    shape = tiny_settings(norm=request.param)
    built = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    blind = Transformer(
        source=Embedding(built.output, None, dropout=0.0),
        target=Embedding(built.output, None, dropout=0.0),
        encoder=built.encoder,
        decoder=built.decoder,
        output=built.output,
    )
    return stir(blind, seed=3).eval()


permutations = st.permutations(range(6)).map(list)


@LAW
@given(row=st.lists(words, min_size=6, max_size=6), order=permutations)
def test_without_positions_the_encoder_is_permutation_equivariant(without_positions, row, order):
    with torch.inference_mode():
        states = without_positions.encode(batch_of([row], ended=False)).states[0]
        moved = without_positions.encode(batch_of([[row[i] for i in order]], ended=False)).states[0]
    assert greatest_difference(moved, states[order]) < CLOSE


@LAW
@given(order=permutations.filter(lambda order: order != sorted(order)))
def test_with_positions_it_is_not(model, order):
    row = [4, 5, 6, 7, 8, 9]
    with torch.inference_mode():
        states = model.encode(batch_of([row], ended=False)).states[0]
        moved = model.encode(batch_of([[row[i] for i in order]], ended=False)).states[0]
    assert greatest_difference(moved, states[order]) > 1e-2
