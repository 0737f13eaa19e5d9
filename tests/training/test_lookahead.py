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
    lookahead = Lookahead(numbers)  # type: ignore[arg-type]
    for step in range(4):
        assert lookahead.take(range(step * 2, step * 2 + 2), range(step * 2 + 2, step * 2 + 4)) == [
            step * 2,
            step * 2 + 1,
        ]
    lookahead.close()
    assert numbers.asked == list(range(len(numbers.asked))), "each once, in order"
    assert len(numbers.asked) >= 8


def test_a_jump_is_followed():
    lookahead = Lookahead(Numbers())  # type: ignore[arg-type]
    assert lookahead.take(range(1), range(1, 2)) == [0]
    assert lookahead.take(range(50, 51), range(51, 52)) == [50]
    lookahead.close()


def test_an_error_while_preparing_is_raised_when_the_batch_is_taken():
    lookahead = Lookahead(Numbers())  # type: ignore[arg-type]
    assert lookahead.take(range(12, 13), range(13, 14)) == [12]
    with pytest.raises(ValueError, match="no such batch"):
        lookahead.take(range(13, 14), range(14, 15))
    lookahead.close()
