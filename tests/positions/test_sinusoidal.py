"""The paper's encodings equal their formula, and shifting is a rotation."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.positions.sinusoidal import SinusoidalPositions, sinusoids


@pytest.mark.parametrize("width", [2, 16, 512, 7])
@pytest.mark.parametrize("position", [0, 1, 2, 49, 1000])
def test_every_dimension_equals_the_formula(position, width):
    row = sinusoids(torch.tensor([position]), width)[0]
    for dimension in range(width):
        i = dimension // 2
        angle = position / 10000 ** (2 * i / width)
        expected = math.sin(angle) if dimension % 2 == 0 else math.cos(angle)
        assert float(row[dimension]) == pytest.approx(expected, abs=1e-6), (position, dimension)


@LAW
@given(position=st.integers(0, 500), shift=st.integers(-100, 100), half=st.integers(1, 32))
def test_the_encoding_of_a_later_position_is_a_rotation(position, shift, half):
    width = 2 * half
    here, there = sinusoids(torch.tensor([position, position + shift]), width).double()
    turn = shift / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)  # by how much each pair turns
    sine, cosine = here[0::2], here[1::2]
    assert torch.allclose(there[0::2], sine * turn.cos() + cosine * turn.sin(), atol=1e-5)
    assert torch.allclose(there[1::2], cosine * turn.cos() - sine * turn.sin(), atol=1e-5)


def test_the_first_pair_turns_fastest_and_the_last_slowest():
    width = 512
    rows = sinusoids(torch.arange(2), width).double()
    turns = torch.atan2(rows[1, 0::2], rows[1, 1::2])  # the angle of each pair after one step
    assert float(turns[0]) == pytest.approx(1.0, abs=1e-6)  # wavelength 2π
    assert float(turns[-1]) == pytest.approx(10000 ** -((width - 2) / width), rel=1e-4)
    assert (turns[1:] < turns[:-1]).all()


def test_the_table_grows_and_what_was_there_stays():
    growing, ample = SinusoidalPositions(16, initial=4), SinusoidalPositions(16, initial=100)
    assert torch.equal(growing(0, 4), ample(0, 4))
    assert torch.equal(growing(2, 37), ample(2, 37))
    assert growing(0, 37).shape == (37, 16)
    assert torch.equal(growing(0, 4), ample(0, 4))


def test_growth_keeps_the_type_of_the_table():
    positions = SinusoidalPositions(16, initial=4).double()
    assert positions(0, 50).dtype == torch.float64


def test_the_table_is_no_weight():
    assert not SinusoidalPositions(16).state_dict()
    assert not list(SinusoidalPositions(16).parameters())
