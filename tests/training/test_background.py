"""Work in a second thread: in order, finished when it is said to be, and its errors reach whoever started it."""

import threading

import pytest

from manyheads.errors import ManyheadsError
from manyheads.training.state.background import Background


def test_it_does_not_hold_up_whoever_starts_it():
    background, gate, done = Background("test"), threading.Event(), []
    background.start(lambda: (gate.wait(), done.append(1))[1])
    assert done == [], "it waits for the gate, and we do not"
    gate.set()
    background.finish()
    assert done == [1]
    background.close()


def test_pieces_are_done_in_order():
    background, done = Background("test"), []
    for number in range(20):
        background.start(lambda number=number: done.append(number))  # type: ignore[misc]
    background.close()
    assert done == list(range(20))


@pytest.mark.parametrize("then", ["start", "finish", "close"])
def test_an_error_is_raised_at_the_next_call(then: str):
    def fail() -> None:
        raise ManyheadsError("the disk is full.")

    background = Background("test")
    background.start(fail)
    with pytest.raises(ManyheadsError, match="the disk is full"):
        background.start(lambda: None) if then == "start" else getattr(background, then)()
    background.close()
