"""Batches that are prepared ahead are the batches that were asked for, whatever was expected."""

from typing import Any

import pytest

from manyheads.training.lookahead import Lookahead


class Numbers:
    """Batches that are their own numbers, and remember who asked for them."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __getitem__(self, index: int) -> Any:
        self.asked.append(index)
        if index == 13:
            raise ValueError("no such batch")
        return index


def test_each_batch_is_laid_out_once_and_ahead():
    numbers = Numbers()
    lookahead = Lookahead(lambda step: numbers)
    for step in range(4):
        now, following = range(step * 2, step * 2 + 2), range(step * 2 + 2, step * 2 + 4)
        assert lookahead.take(step, now, following) == list(now)
    lookahead.close()
    assert numbers.asked == list(range(len(numbers.asked))), "each once, in order"
    assert len(numbers.asked) >= 8


def test_a_jump_is_followed():
    numbers = Numbers()
    lookahead = Lookahead(lambda step: numbers)
    assert lookahead.take(0, range(1), range(1, 2)) == [0]
    assert lookahead.take(50, range(50, 51), range(51, 52)) == [50]
    lookahead.close()


def test_an_error_while_preparing_is_raised_when_the_batch_is_taken():
    numbers = Numbers()
    lookahead = Lookahead(lambda step: numbers)
    assert lookahead.take(12, range(12, 13), range(13, 14)) == [12]
    with pytest.raises(ValueError, match="no such batch"):
        lookahead.take(13, range(13, 14), range(14, 15))
    lookahead.close()


def test_a_step_of_another_stage_takes_its_own_batches():
    lookahead = Lookahead(lambda step: [f"stage {step // 2}, {index}" for index in range(9)])
    taken = [lookahead.take(step, range(step, step + 1), range(step + 1, step + 2)) for step in range(4)]
    assert taken == [["stage 0, 0"], ["stage 0, 1"], ["stage 1, 2"], ["stage 1, 3"]]
    lookahead.close()
