"""Learned positions: one trained vector each, and a refusal beyond the last."""

import pytest
import torch

from manyheads.errors import ManyheadsError
from manyheads.positions.learned import LearnedPositions


def test_each_position_has_a_row_of_its_own_that_learns():
    positions = LearnedPositions(8, maximum=5)
    assert torch.equal(positions(1, 4), positions.table[1:4])
    positions(1, 4).sum().backward()
    assert positions.table.grad.abs().sum(dim=1).tolist() == [0, 8, 8, 8, 0]


def test_the_last_position_is_still_known():
    assert LearnedPositions(8, maximum=5)(0, 5).shape == (5, 8)


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (5, 6), (0, 1000)])
def test_a_longer_sequence_is_refused_with_both_lengths(start, stop):
    with pytest.raises(ManyheadsError, match=rf"{stop:,} tokens .* 5 positions"):
        LearnedPositions(8, maximum=5)(start, stop)
