"""The costs of layers: exponents of counted FLOPs, and where two costs cross."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from manyheads.studies.bench import run_study
from manyheads.studies.complexity import (
    LONG,
    THEORY,
    Complexity,
    Operation,
    counted_flops,
    crossing,
    grid,
    kept_bytes,
)
from manyheads.studies.statistics import fitted_exponent


class Smaller(Complexity):
    def items(self, *, quick: bool) -> list[Operation]:
        return grid(lengths=(LONG, 2 * LONG), widths=(8, 16), repeats=2)


def test_counted_flops_have_the_exponents_of_theory(tmp_path: Path):
    numbers = run_study(Smaller(), out=tmp_path, tell=lambda _: None).conclusion.numbers
    for kind, (_, of_length, of_width) in THEORY.items():
        assert numbers[f"{kind} n"] == pytest.approx(of_length, abs=0.05)
        assert numbers[f"{kind} d"] == pytest.approx(of_width, abs=0.05)


def test_the_whole_grids_have_what_the_conclusion_needs():
    for quick in (False, True):
        items = Complexity().items(quick=quick)
        for kind in THEORY:
            mine = [one for one in items if one.kind == kind]
            assert sum(one.length >= LONG for one in mine if one.width == mine[0].width) >= 2
            assert len({one.width for one in mine if one.length >= LONG}) >= 2


def test_the_fused_kernel_keeps_no_matrix_of_weights():
    lengths = (256, 512, 1024)
    kept = [kept_bytes(Operation("self-attention", length, 16, 1)) for length in lengths]
    assert fitted_exponent(lengths, kept) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("kind", THEORY)
def test_flops_are_those_of_the_products(kind: str):
    n, d = 256, 16
    known = {
        "self-attention": 2 * 2 * n * n * d,
        "window": 2 * 2 * n * 3 * 64 * d,  # a block of 64 meets its own and the two beside it
        "recurrent": 2 * n * (4 * d) * (2 * d),
        "convolution": 2 * n * 3 * d * d,
    }
    assert counted_flops(Operation(kind, n, d, 1)) == known[kind]


def test_a_crossing_is_the_last_length_at_which_a_cost_overtakes():
    lengths = [2**power for power in range(4, 12)]
    assert crossing(lengths, [length / 100 for length in lengths]) == pytest.approx(100)
    assert crossing(lengths, [1000 / length for length in lengths]) is None
    assert crossing(lengths, [2.0] * len(lengths)) is None
    wavy = [value for value, _ in zip(itertools.cycle((0.5, 2.0)), lengths, strict=False)]
    assert lengths[-2] < (crossing(lengths, wavy) or 0) < lengths[-1]
