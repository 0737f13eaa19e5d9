"""The learning rate equals the paper's equation, and every other schedule begins, peaks and ends as it says."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.training import ScheduleSettings
from manyheads.training.optimisation.schedule import learning_rate

KINDS = ["inverse_sqrt", "cosine", "linear", "constant"]


def rate(step: int, *, width: int = 64, steps: int = 1000, **settings) -> float:
    return learning_rate(ScheduleSettings(**settings), step, width=width, steps=steps)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (1, 1 / 8 * 1 / 1000),  # 64^−0.5 = 1/8, and 100^−1.5 = 1/1000
        (50, 1 / 8 * 50 / 1000),
        (100, 1 / 8 * 1 / 10),  # where both branches meet: 100^−0.5 = 100 · 100^−1.5 = 1/10
        (400, 1 / 8 * 1 / 20),
        (10_000, 1 / 8 * 1 / 100),
    ],
)
def test_the_papers_schedule_equals_values_by_hand(step, expected):
    assert rate(step, warmup=100) == pytest.approx(expected, rel=1e-12)
    assert rate(step, warmup=100, rate=2.0) == pytest.approx(2 * expected, rel=1e-12)


@LAW
@given(step=st.integers(1, 100_000), warmup=st.integers(1, 10_000), width=st.integers(1, 2048))
def test_the_papers_schedule_equals_equation_3(step, warmup, width):
    expected = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
    assert rate(step, warmup=warmup, width=width) == pytest.approx(expected, rel=1e-9)


def test_the_papers_base_model_peaks_at_the_rate_everybody_knows():
    peak = rate(4000, width=512, warmup=4000)
    assert peak == pytest.approx((512 * 4000) ** -0.5)
    assert f"{peak:.1e}" == "7.0e-04"


@LAW
@given(warmup=st.integers(2, 5000))
def test_the_papers_schedule_rises_to_the_warm_up_falls_after_it_and_does_not_jump(warmup):
    before, peak, after = (rate(warmup + offset, warmup=warmup) for offset in (-1, 0, 1))
    assert before < peak and after < peak
    assert peak - before == pytest.approx(peak / warmup, rel=1e-6)  # a straight line from zero
    assert after / peak == pytest.approx(math.sqrt(warmup / (warmup + 1)), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_other_schedule_rises_in_a_straight_line_to_its_peak(kind):
    for step in (1, 25, 50, 100):
        found = rate(step, kind=kind, warmup=100, rate=0.5)
        assert found == pytest.approx(0.5 * step / 100)


@pytest.mark.parametrize("kind", KINDS)
def test_every_other_schedule_does_not_jump_behind_the_warm_up(kind):
    peak, after = rate(100, kind=kind, warmup=100, rate=0.5), rate(101, kind=kind, warmup=100, rate=0.5)
    assert 0.99 * peak < after <= peak


@pytest.mark.parametrize("floor", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["cosine", "linear"])
def test_cosine_and_linear_pass_the_middle_and_end_at_the_floor(kind, floor):
    def at(step: int) -> float:
        return rate(step, kind=kind, warmup=100, rate=0.5, floor=floor, steps=1100)

    assert at(600) == pytest.approx(0.5 * (1 + floor) / 2)  # 500 of the 1,000 steps behind the warm-up
    assert at(1100) == pytest.approx(0.5 * floor)
    assert at(5000) == pytest.approx(0.5 * floor)  # a run that is continued stays there


def test_a_quarter_of_the_way_linear_and_cosine_differ():
    linear = rate(350, kind="linear", warmup=100, rate=0.5, steps=1100)
    cosine = rate(350, kind="cosine", warmup=100, rate=0.5, steps=1100)
    assert linear == pytest.approx(0.5 * 0.75)
    assert cosine == pytest.approx(0.5 * (1 + math.cos(math.pi / 4)) / 2)


def test_inverse_sqrt_halves_when_the_step_is_four_times_the_warm_up():
    assert rate(400, kind="inverse_sqrt", warmup=100, rate=0.5) == pytest.approx(0.5 / 2)
    assert rate(10_000, kind="inverse_sqrt", warmup=100, rate=0.5) == pytest.approx(0.5 / 10)


def test_constant_stays():
    assert {rate(step, kind="constant", warmup=100, rate=0.5) for step in (100, 101, 1000, 9999)} == {0.5}


@pytest.mark.parametrize("kind", ["paper", *KINDS])
def test_without_warm_up_the_first_step_is_already_the_peak(kind):
    found = [rate(step, kind=kind, warmup=0, rate=0.5) for step in (1, 2, 500)]
    assert found[0] >= found[1] >= found[2] > 0.0
    expected = 0.5 / 8 if kind == "paper" else 0.5
    assert found[0] == pytest.approx(expected, rel=2e-3)  # cosine and linear have gone one step of 1,000


def test_a_rate_waits_at_its_peak_until_the_decay_is_known():
    waiting = {"kind": "warmup_constant_decay", "warmup": 100, "rate": 0.5}
    assert rate(50, **waiting) == pytest.approx(0.25)
    assert [rate(step, **waiting) for step in (100, 500, 1000)] == [0.5, 0.5, 0.5]
    decaying = {**waiting, "decay_from": 600, "floor": 0.1}
    assert [rate(step, **decaying) for step in (100, 599, 600)] == [0.5, 0.5, 0.5]
    assert rate(800, **decaying) == pytest.approx(0.5 * 0.55)
    assert rate(1000, **decaying) == pytest.approx(0.05)


def test_only_a_schedule_that_waits_has_a_beginning_of_its_decay():
    with pytest.raises(ValueError, match="decay_from is for warmup_constant_decay, not for linear"):
        ScheduleSettings(kind="linear", decay_from=3)
