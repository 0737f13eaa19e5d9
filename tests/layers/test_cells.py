"""With the same weights, our recurrent cells and layers are PyTorch's, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from helpers import greatest_difference
from manyheads.layers.cells import GRU, LSTM, RNN, Cell
from manyheads.layers.recurrence import (
    BothDirections,
    OneDirection,
    RecurrentDropout,
    make_cell,
    read,
    reversed_positions,
)

INPUTS, WIDTH, ROWS, LENGTH = 5, 4, 3, 6
LENGTHS = torch.tensor([LENGTH, 2, 4])
CELLS: dict[str, tuple[type[Cell], type[nn.RNNBase], type[nn.RNNCellBase]]] = {
    "rnn": (RNN, nn.RNN, nn.RNNCell),
    "gru": (GRU, nn.GRU, nn.GRUCell),
    "lstm": (LSTM, nn.LSTM, nn.LSTMCell),
}
every_cell = pytest.mark.parametrize("kind", CELLS)


@pytest.fixture(autouse=True)
def exact():
    """Compute in float64, so that a difference is a mistake."""
    torch.manual_seed(4)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def agree(found: list[Tensor], expected: list[Tensor], inputs: tuple[list[Tensor], list[Tensor]]) -> None:
    """Compare values, and the gradients of one weighted sum of them with respect to pairs of inputs."""
    factors = [torch.randn_like(one) for one in found]
    for one, other in zip(found, expected, strict=True):
        assert greatest_difference(one, other) < 1e-12
    gradients = [
        torch.autograd.grad(sum((one * factor).sum() for one, factor in zip(values, factors, strict=True)), leaves)
        for values, leaves in zip((found, expected), inputs, strict=True)
    ]
    for one, other in zip(*gradients, strict=True):
        assert greatest_difference(one, other) < 1e-12


def inputs_and_state(kind: str) -> tuple[Tensor, tuple[Tensor, ...]]:
    state = tuple(torch.randn(ROWS, WIDTH, requires_grad=True) for _ in range(2 if kind == "lstm" else 1))
    return torch.randn(ROWS, LENGTH, INPUTS, requires_grad=True), state


@every_cell
def test_a_cell_is_pytorchs_at_one_position(kind):
    ours, theirs = CELLS[kind][0](INPUTS, WIDTH), CELLS[kind][2](INPUTS, WIDTH)
    theirs.load_state_dict({name.removesuffix("_l0"): one for name, one in ours.state_dict().items()})
    inputs, state = inputs_and_state(kind)
    expected = theirs(inputs[:, 0], state if kind == "lstm" else state[0])
    agree(
        list(ours(inputs[:, 0], state)),
        list(expected) if kind == "lstm" else [expected],
        ([inputs, *state, *ours.parameters()], [inputs, *state, *theirs.parameters()]),
    )


@every_cell
@pytest.mark.parametrize("given", [True, False], ids=["from-a-state", "from-zeros"])
def test_a_sequence_is_read_as_by_pytorchs_layer(kind, given):
    ours, theirs = CELLS[kind][0](INPUTS, WIDTH), CELLS[kind][1](INPUTS, WIDTH, batch_first=True)
    theirs.load_state_dict(ours.state_dict())
    inputs, state = inputs_and_state(kind)
    leaves = [inputs, *(state if given else ())]
    found = read(ours, inputs, state if given else None)
    expected = read(theirs, inputs, state if given else None)
    before = tuple(one[None] for one in state) if given else None
    outputs, after = theirs(inputs, before if before is None or kind == "lstm" else before[0])
    assert torch.equal(expected[0], outputs)
    after = after if kind == "lstm" else (after,)
    assert all(torch.equal(one, other[0]) for one, other in zip(expected[1], after, strict=True))
    agree(
        [found[0], *found[1]],
        [expected[0], *expected[1]],
        ([*leaves, *ours.parameters()], [*leaves, *theirs.parameters()]),
    )


@every_cell
@pytest.mark.parametrize("fused", [True, False])
def test_a_layer_does_not_read_padding(kind, fused):
    """Compare with PyTorch's packed sequences, which have no padding."""
    rightward, leftward = (make_cell(kind, INPUTS, WIDTH, fused=fused) for _ in range(2))
    theirs = CELLS[kind][1](INPUTS, WIDTH, batch_first=True, bidirectional=True)
    reverse = {f"{name}_reverse": one for name, one in leftward.state_dict().items()}
    theirs.load_state_dict({**rightward.state_dict(), **reverse})
    inputs, _ = inputs_and_state(kind)
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(theirs(packed)[0], batch_first=True)
    real = torch.arange(LENGTH) < LENGTHS[:, None]
    reversal = reversed_positions(LENGTHS, LENGTH)
    one_way, both_ways = OneDirection(rightward), BothDirections(rightward, leftward)
    assert greatest_difference(one_way(inputs, reversal)[real], expected[real][:, :WIDTH]) < 1e-12
    found = both_ways(inputs, reversal)[real]
    parameters = [*rightward.parameters(), *leftward.parameters()]
    agree([found], [expected[real]], ([inputs, *parameters], [inputs, *theirs.parameters()]))


@every_cell
def test_variational_dropout_drops_the_same_connections_at_every_position(kind):
    """W_h·(m ⊙ h) is (W_h·diag(m))·h: what a layer computes whose matrix has the mask in its columns."""
    ours, theirs = CELLS[kind][0](INPUTS, WIDTH), CELLS[kind][1](INPUTS, WIDTH, batch_first=True)
    inputs, _ = inputs_and_state(kind)
    masks = RecurrentDropout(0.5).mask(ours, inputs)
    assert set(masks.flatten().tolist()) == {0.0, 2.0}
    found, _ = read(ours, inputs, kept=masks)
    for row, mask in enumerate(masks):
        theirs.load_state_dict({**ours.state_dict(), "weight_hh_l0": ours.weight_hh_l0 * mask})
        assert greatest_difference(found[row], theirs(inputs[row])[0]) < 1e-12


def test_nothing_is_dropped_outside_training():
    like = torch.zeros(ROWS, LENGTH, INPUTS)
    assert RecurrentDropout(0.5).eval().mask(LSTM(INPUTS, WIDTH), like) is None
    assert RecurrentDropout(0.0).mask(LSTM(INPUTS, WIDTH), like) is None


@every_cell
@pytest.mark.parametrize("fused", [True, False])
def test_initial_weights_let_gradients_through(kind, fused):
    weights = dict(make_cell(kind, INPUTS, WIDTH, fused=fused).named_parameters())
    biases = (weights["bias_ih_l0"] + weights["bias_hh_l0"]).view(-1, WIDTH)
    if kind != "rnn":
        assert torch.equal(biases[1], torch.ones(WIDTH))
    if kind != "lstm":
        for block in weights["weight_hh_l0"].split(WIDTH):
            assert greatest_difference(block @ block.T, torch.eye(WIDTH)) < 1e-12


@every_cell
def test_fused_and_written_out_cells_begin_with_the_same_weights(kind):
    drawn = []
    for fused in (True, False):
        torch.manual_seed(1)
        drawn.append(make_cell(kind, INPUTS, WIDTH, fused=fused).state_dict())
    assert list(drawn[0]) == list(drawn[1])
    assert all(torch.equal(drawn[0][name], drawn[1][name]) for name in drawn[0])
