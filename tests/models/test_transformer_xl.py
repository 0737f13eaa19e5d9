"""Transformer-XL: pieces with a memory are one long text, and nothing grows while it writes."""

import pytest
import torch

from helpers import greatest_difference, stir
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.models.interface import Memory
from manyheads.models.transformer_xl import MEMORY, TransformerXL

VOCABULARY, LENGTH = 11, 40


def model(*, memory: int, norm: str = "pre", layers: int = 3) -> TransformerXL:
    settings = TransformerXLSettings(
        width=16, heads=4, layers=layers, feed_forward=32, dropout=0.0, memory=memory, norm=norm
    )
    torch.manual_seed(4)
    return stir(TransformerXL.from_settings(settings, vocabulary=VOCABULARY), seed=5).double().eval()


def text(rows: int = 2) -> torch.Tensor:
    return torch.randint(VOCABULARY, (rows, LENGTH), generator=torch.Generator().manual_seed(1))


def in_pieces(one: TransformerXL, tokens: torch.Tensor, length: int) -> torch.Tensor:
    memory: Memory | None = None
    hidden = []
    for piece in tokens.split(length, dim=1):
        decoded, memory = one.decode_piece(piece, memory)
        hidden.append(decoded.hidden)
    return torch.cat(hidden, dim=1)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("length", [1, 4, 7, 16])
@pytest.mark.parametrize("memory", [LENGTH, 16, 5])
def test_pieces_with_a_memory_are_one_long_pass(memory: int, length: int, norm: str):
    one, tokens = model(memory=memory, norm=norm), text()
    with torch.inference_mode():
        assert greatest_difference(in_pieces(one, tokens, length), one.decode(tokens).hidden) < 1e-9


def test_without_the_memory_pieces_are_texts_of_their_own():
    """So the comparison above means something."""
    one, tokens = model(memory=16), text()
    with torch.inference_mode():
        alone = torch.cat([one.decode_piece(piece)[0].hidden for piece in tokens.split(8, dim=1)], dim=1)
        assert greatest_difference(alone, one.decode(tokens).hidden) > 1e-3


def test_a_position_depends_on_as_many_memories_as_there_are_layers():
    memory, layers = 4, 3
    one, tokens = model(memory=memory, layers=layers), text(rows=1)
    reach = memory * layers
    with torch.inference_mode():
        expected = one.decode(tokens).hidden[0, -1]
        for back, changes in ((reach, True), (reach + 1, False)):
            other = tokens.clone()
            other[0, LENGTH - 1 - back] = (other[0, LENGTH - 1 - back] + 1) % VOCABULARY
            difference = greatest_difference(one.decode(other).hidden[0, -1], expected)
            assert (difference > 0) == changes


def test_no_gradient_goes_through_the_memory():
    one, tokens = model(memory=16), text()
    _, memory = one.decode_piece(tokens[:, :8])
    assert not memory[MEMORY].requires_grad
    asked = {MEMORY: memory[MEMORY].clone().requires_grad_()}
    one.decode_piece(tokens[:, 8:16], asked)[0].hidden.sum().backward()
    assert asked[MEMORY].grad is not None  # what was read is used; it is the piece before that gets no gradient


def test_a_longer_memory_than_that_of_training_sees_more():
    one, tokens = model(memory=4, layers=1), text(rows=1)
    with torch.inference_mode():
        short = one.decode(tokens).hidden[0, -1]
        one.memory = 12
        other = tokens.clone()
        other[0, LENGTH - 1 - 10] = (other[0, LENGTH - 1 - 10] + 1) % VOCABULARY
        long = one.decode(tokens).hidden[0, -1]
        assert greatest_difference(short, long) > 0
        assert greatest_difference(one.decode(other).hidden[0, -1], long) > 0


def test_decoding_keeps_no_more_than_the_memory():
    one = model(memory=5)
    sizes = set()
    with torch.inference_mode():
        state = one.start(1)
        for number in range(400):
            _, state = one.step(torch.tensor([number % VOCABULARY]), state)
            if number >= 100:
                sizes |= {tuple(cache._buffer.keys.shape) for cache in state.caches}
    assert len(sizes) == 1
