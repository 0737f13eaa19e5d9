"""The Compressive Transformer: its limits, pieces that are one long text, and gradients that stay where they belong."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call

from helpers import greatest_difference, stir
from manyheads.attention.recording import record_attention
from manyheads.config.models.compressive import CompressiveSettings
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.layers.compression import ConvolutionCompression, MeanCompression, MostUsed
from manyheads.models.compressive import COMPRESSED, RECENT, USAGE, CompressiveTransformer
from manyheads.models.interface import Memory, RememberingLanguageModel
from manyheads.models.transformer_xl import TransformerXL

VOCABULARY, LENGTH = 11, 60
SIZES: dict[str, Any] = {"width": 16, "heads": 4, "layers": 3, "feed_forward": 32, "dropout": 0.0}
KINDS = ["mean", "max", "convolution", "dilated_convolution", "most_used"]
LEARNED = [("convolution", "attention"), ("dilated_convolution", "attention"), ("convolution", "auto_encoding")]


def model(stirred: bool = True, **keys: Any) -> CompressiveTransformer:
    settings = CompressiveSettings(**{**SIZES, "memory": 6, "compressed": 4, "rate": 3, **keys})
    torch.manual_seed(4)
    one = CompressiveTransformer.from_settings(settings, vocabulary=VOCABULARY)
    return (stir(one, seed=5) if stirred else one).double().eval()


def text(rows: int = 2, length: int = LENGTH) -> torch.Tensor:
    return torch.randint(VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(1))


def in_pieces(one: RememberingLanguageModel[Any], tokens: torch.Tensor, length: int) -> tuple[torch.Tensor, Memory]:
    memory: Memory | None = None
    hidden = []
    for piece in tokens.split(length, dim=1):
        decoded, memory = one.decode_piece(piece, memory)
        hidden.append(decoded.hidden)
    assert memory is not None
    return torch.cat(hidden, dim=1), memory


@pytest.mark.parametrize("length", [1, 5, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_at_a_rate_of_one_it_is_a_transformer_xl_with_the_longer_memory(kind: str, length: int):
    """A convolution begins as the mean, which is the position itself; so only that one's weights are not stirred."""
    one = model(stirred=False, memory=5, compressed=7, rate=1, compression=kind)
    other = TransformerXL.from_settings(TransformerXLSettings(**SIZES, memory=12), vocabulary=VOCABULARY).double()
    stir(other, seed=5)
    missing, unexpected = one.load_state_dict(other.state_dict(), strict=False)
    assert not unexpected
    assert all("compression" in name for name in missing)
    with torch.inference_mode():
        assert greatest_difference(in_pieces(one, text(), length)[0], other.eval().decode(text()).hidden) < 1e-5


def test_at_another_rate_it_is_not():
    """So the comparison above means something."""
    one, other = (model(memory=6, compressed=6, rate=rate, compression="mean") for rate in (1, 2))
    with torch.inference_mode():
        assert greatest_difference(one.decode(text()).hidden, other.decode(text()).hidden) > 1e-3


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("length", [1, 4, 7, 25])
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_with_a_memory_are_one_long_pass(kind: str, length: int, norm: str):
    one, tokens = model(compression=kind, norm=norm), text()
    with torch.inference_mode():
        assert greatest_difference(in_pieces(one, tokens, length)[0], one.decode(tokens).hidden) < 1e-9


@pytest.mark.parametrize("memory", [5, 6, 7, 8])
def test_a_text_that_the_memory_holds_is_read_without_compression(memory: int):
    tokens = text(length=memory + 1)
    plain = TransformerXL.from_settings(TransformerXLSettings(**SIZES, memory=memory), vocabulary=VOCABULARY).double()
    one = model(memory=memory, rate=1, compression="mean")
    plain.load_state_dict(one.state_dict())
    with torch.inference_mode():
        assert greatest_difference(one.decode(tokens).hidden, plain.eval().decode(tokens).hidden) < 1e-9


def test_a_position_depends_on_what_is_remembered_and_compressed_and_on_nothing_before():
    one, tokens = model(layers=1, compression="mean"), text(rows=1)
    begins = (LENGTH - 1 - 6) // 3  # blocks that are compressed for the last position, which sees the last four
    with torch.inference_mode():
        expected = one.decode(tokens).hidden[0, -1]
        for place, changes in ((3 * (begins - 4), True), (3 * (begins - 4) - 1, False)):
            other = tokens.clone()
            other[0, place] = (other[0, place] + 1) % VOCABULARY
            assert (greatest_difference(one.decode(other).hidden[0, -1], expected) > 0) == changes


@pytest.mark.parametrize("kind", KINDS)
def test_neither_memory_grows(kind: str):
    one = model(compression=kind)
    with torch.inference_mode():
        state = one.start(1)
        for number in range(200):
            _, state = one.step(torch.tensor([number % VOCABULARY]), state)
            for layer in state.memory:
                assert layer.near is not None
                assert layer.far is not None
                assert layer.recent.shape[1] == layer.near.keys.shape[2] <= one.memory + one.reach.rate - 1
                assert layer.compressed.shape[1] == layer.far.keys.shape[2] <= one.reach.compressed
    assert layer.compressed.shape[1] == one.reach.compressed


@pytest.mark.parametrize(("kind", "loss"), LEARNED)
def test_what_compression_learns_and_what_the_model_learns_are_apart(kind: str, loss: str):
    one, tokens = model(compression=kind, compression_loss=loss).train(), text()
    _, memory = one.decode_piece(tokens[:, :30])
    decoded, _ = one.decode_piece(tokens[:, 30:], memory)
    assert decoded.penalty is not None
    assert (decoded.penalty == 0).all()
    compression = {name for name, _ in one.named_parameters() if "compression" in name}
    for total, expected in ((decoded.penalty.sum(), compression), (decoded.hidden.sum(), None)):
        one.zero_grad()
        total.backward(retain_graph=True)
        touched = {name for name, weights in one.named_parameters() if weights.grad is not None and weights.grad.any()}
        assert touched == compression if expected else not touched & compression
    assert not any(one.requires_grad for one in memory.values())


@pytest.mark.parametrize(("kind", "loss"), LEARNED)
def test_compression_learns_to_lose_less(kind: str, loss: str):
    one, tokens = model(compression=kind, compression_loss=loss).train(), text()
    weights = [parameter for name, parameter in one.named_parameters() if "compression" in name]
    optimiser = torch.optim.Adam(weights, lr=0.01)
    lost = []
    for _ in range(30):
        optimiser.zero_grad()
        total = torch.stack(losses_of(one, tokens)).sum()
        total.backward()
        optimiser.step()
        lost.append(float(total.detach()))
    assert lost[-1] < 0.9 * lost[0]


def losses_of(one: CompressiveTransformer, tokens: torch.Tensor) -> list[torch.Tensor]:
    states, lost = one.embedding(tokens).detach(), []
    for layer in one.layers:
        read = layer(states, None, one.reach)
        states = read.states.detach()
        lost.append(read.lost)
    return lost


@pytest.mark.parametrize(("kind", "loss"), LEARNED)
def test_gradients_in_float64_are_difference_quotients(kind: str, loss: str):
    one = model(layers=1, compression=kind, compression_loss=loss).train()
    layer, earlier = one.layers[0], torch.randn(1, 20, 16, dtype=torch.float64)
    memory = layer(earlier, None, one.reach).memory
    piece = torch.randn(
        1, one.memory, 16, dtype=torch.float64
    )  # longer ones would compress what they have gradients of

    def states(inputs: torch.Tensor) -> torch.Tensor:
        return layer(inputs, memory, one.reach).states

    def lost(kernel: torch.Tensor) -> torch.Tensor:
        return functional_call(layer, {"compression.kernel.weight": kernel}, (piece, memory, one.reach)).lost

    assert torch.autograd.gradcheck(states, piece.clone().requires_grad_())
    kernel = layer.compression.kernel.weight.detach()
    assert torch.autograd.gradcheck(lost, kernel.clone().requires_grad_(), fast_mode=True)


def test_a_piece_too_short_to_compress_anything_has_gradients_of_zero():
    """So every update has a gradient for every weight, as processes that share their gradients need it."""
    one = model(compression_loss="auto_encoding").train()
    decoded, _ = one.decode_piece(text(length=4))
    decoded.penalty.sum().backward()
    for name, weights in one.named_parameters():
        assert (weights.grad is not None and not weights.grad.any()) == ("compression" in name)


def test_the_memory_has_the_names_and_sizes_of_both_parts():
    one = model()
    _, memory = in_pieces(one, text(), 16)
    assert memory[RECENT].shape[:3] == memory[USAGE].shape == (2, 3, 6 + (LENGTH - 6) % 3)
    assert memory[COMPRESSED].shape == (2, 3, 4, 16)


def test_means_and_the_most_used_are_what_they_say():
    states, usage = torch.randn(2, 9, 4), torch.rand(2, 9)
    windows = states.view(2, 3, 3, 4)
    assert torch.allclose(MeanCompression(3)(states, usage, 3), windows.mean(dim=2))
    best = usage.view(2, 3, 3).argmax(dim=-1)
    expected = torch.stack([torch.stack([windows[b, n, best[b, n]] for n in range(3)]) for b in range(2)])
    assert torch.equal(MostUsed(3)(states, usage, 3), expected)


@pytest.mark.parametrize("dilation", [1, 2])
def test_a_convolution_is_that_of_torch(dilation: int):
    compression = stir(ConvolutionCompression(3, 4, dilation=dilation), seed=2)
    kernel = compression.kernel.weight.view(4, 3, 4).transpose(1, 2)  # [out, in, place]
    states = torch.randn(2, 12, 4)
    expected = nn.functional.conv1d(states.mT, kernel, stride=3, dilation=dilation).mT
    count = expected.shape[1]
    assert torch.allclose(compression(states, torch.zeros(2, 12), count), expected, atol=1e-6)


def test_what_was_attended_to_most_is_kept():
    """Usage is attention among single positions, summed over the queries that saw the position."""
    one, tokens = model(layers=1, compression="most_used"), text(rows=1, length=12)
    with torch.inference_mode(), record_attention(one) as recording:
        _, memory = one.decode_piece(tokens)
        states = one.embedding(tokens)
    (weights,) = recording.values()
    single = weights[..., :12] / weights[..., :12].sum(dim=-1, keepdim=True)
    usage = single.mean(dim=1).sum(dim=1)[0]  # [12]
    blocks = (12 - 6) // 3
    assert greatest_difference(memory[USAGE][0, 0], usage[3 * blocks :]) < 1e-9
    for block in range(blocks):
        best = 3 * block + int(usage[3 * block : 3 * block + 3].argmax())
        assert torch.equal(memory[COMPRESSED][0, 0, block], states[0, best])
