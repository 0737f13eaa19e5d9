"""Recurrence in depth: the equations of adaptive computation, position by position, and its bounds."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from helpers import LAW, greatest_difference, stir
from manyheads.layers.depth import DepthRecurrence, Halting
from manyheads.positions.sinusoidal import SinusoidalPositions

WIDTH, STEPS, THRESHOLD = 6, 5, 0.9


def recurrence(seed: int, *, halting: bool = True, steps: int = STEPS) -> tuple[DepthRecurrence, nn.Linear]:
    torch.manual_seed(seed)
    stop = Halting(WIDTH, threshold=THRESHOLD) if halting else None
    depth = DepthRecurrence(WIDTH, steps=steps, positions=SinusoidalPositions(WIDTH), halting=stop)
    stir(depth, seed=seed, gain=2.0)
    if stop is not None:
        nn.init.constant_(stop.linear.bias, -1.0)  # so that positions halt at different steps
    return depth, nn.Linear(WIDTH, WIDTH)


def states(seed: int, rows: int = 2, length: int = 4) -> Tensor:
    return torch.randn(rows, length, WIDTH, generator=torch.Generator().manual_seed(seed))


@given(seed=st.integers(0, 200))
@LAW
def test_each_position_follows_the_equations(seed):
    depth, layer = recurrence(seed)
    inputs, halting = states(seed), depth.halting
    assert halting is not None
    found = depth(inputs, lambda one, _: torch.tanh(layer(one)))
    for row in range(inputs.shape[0]):
        for place in range(inputs.shape[1]):
            state, total, output, taken = inputs[row, place], 0.0, torch.zeros(WIDTH), 0
            while True:
                located = state + depth.positions(place, place + 1)[0] + depth.times(taken, taken + 1)[0]
                probability = float(halting(located[None, None]).detach())
                state, taken = torch.tanh(layer(located)), taken + 1
                if total + probability > THRESHOLD or taken == STEPS:
                    output = output + (1.0 - total) * state
                    break
                output, total = output + probability * state, total + probability
            assert found.steps[row, place] == taken
            assert float(found.ponder[row, place]) == pytest.approx(taken + 1.0 - total, abs=1e-5)
            assert greatest_difference(found.output[row, place], output) < 1e-5


@given(seed=st.integers(0, 200))
@LAW
def test_weights_sum_to_one_within_the_bound(seed):
    depth, _ = recurrence(seed)
    found = depth(states(seed), lambda one, _: torch.ones_like(one))  # the output of ones is the sum of the weights
    assert greatest_difference(found.output, torch.ones_like(found.output)) < 1e-6
    assert (found.steps >= 1).all() and (found.steps <= STEPS).all()


def test_positions_halt_at_different_steps():
    """So the tests above mean something."""
    depth, layer = recurrence(3)
    assert len(depth(4.0 * states(3, rows=8), lambda one, _: layer(one)).steps.unique()) > 1


def test_the_other_rows_change_nothing():
    depth, layer = recurrence(5)
    inputs = states(5, rows=3)
    together = depth(inputs, lambda one, _: layer(one))
    for row in range(3):
        alone = depth(inputs[row : row + 1], lambda one, _: layer(one))
        assert greatest_difference(together.output[row], alone.output[0]) < 1e-6
        assert torch.equal(together.steps[row], alone.steps[0])


def test_one_step_is_one_layer_with_its_encodings():
    depth, layer = recurrence(1, halting=False, steps=1)
    inputs = states(1)
    expected = layer(inputs + SinusoidalPositions(WIDTH)(0, 4) + SinusoidalPositions(WIDTH)(0, 1))
    assert greatest_difference(depth(inputs, lambda one, _: layer(one)).output, expected) < 1e-6


def test_gradients_are_those_of_finite_differences():
    depth, layer = recurrence(2)
    depth.double(), layer.double()
    inputs = states(2).double().requires_grad_()

    def both(some: Tensor) -> tuple[Tensor, Tensor]:
        found = depth(some, lambda one, _: torch.tanh(layer(one)))
        return found.output, found.ponder

    assert torch.autograd.gradcheck(both, (inputs,))


def test_without_values_all_steps_are_taken():
    """On the device meta, costs are counted."""
    depth, layer = recurrence(1)
    taken: list[int] = []

    def step(states: Tensor, number: int) -> Tensor:
        taken.append(number)
        return layer(states)

    depth.to("meta"), layer.to("meta")
    depth(states(1).to("meta"), step)
    assert taken == [*range(STEPS)]
