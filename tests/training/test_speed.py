"""The stopwatch counts updates by their time, and neither pauses nor what an earlier lap had."""

import pytest

from manyheads.training.machine import speed
from manyheads.training.machine.speed import Stopwatch


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(speed, "time", made)
    return made


def test_utilisation_is_flops_over_what_the_peak_would_have_done(clock):
    watch = Stopwatch(peak=1000.0)
    for _ in range(2):
        clock.now += 1.0
        watch.add(3.0, 50, flops=600.0)
    with watch.paused():
        clock.now += 1000.0
    assert watch.lap() == {"loss": 3.0, "tokens_per_second": 50.0, "seconds_per_step": 1.0, "utilisation": 0.6}
    clock.now += 2.0
    watch.add(1.0, 50, flops=400.0)
    assert watch.lap() == {"loss": 1.0, "tokens_per_second": 25.0, "seconds_per_step": 2.0, "utilisation": 0.2}
    assert watch.utilisation() == pytest.approx(1600 / 4000)
    assert watch.speed() == "38 tokens/s · 40 % of peak"
    assert watch.seconds_per_step() == pytest.approx(4 / 3)


def test_without_a_peak_nothing_is_said_of_it(clock):
    watch = Stopwatch()
    clock.now += 1.0
    watch.add(2.0, 1234)
    assert watch.lap() == {"loss": 2.0, "tokens_per_second": 1234.0, "seconds_per_step": 1.0}
    assert watch.utilisation() is None
    assert watch.speed() == "1,234 tokens/s"
