"""The line where two parallel texts drift apart is found from their lengths, and not guessed without evidence."""

from random import Random

import pytest

from manyheads.data.cleaning.drift import drift_line

LINES = 300
NEAR = 5  # neighbouring lines may happen to fit as well


def parallel(seed: int, lines: int = LINES) -> tuple[list[str], list[str]]:
    """Return sentences of very different lengths and translations that are about a tenth longer."""
    random = Random(seed)
    source = ["x" * random.randint(5, 200) for _ in range(lines)]
    target = ["y" * max(1, round(len(line) * random.uniform(0.95, 1.25))) for line in source]
    return source, target


@pytest.mark.parametrize("missing", [1, 3])
@pytest.mark.parametrize("line", [1, 2, 50, 150, 280])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_missing_line_is_found(seed: int, line: int, missing: int):
    source, target = parallel(seed)
    shorter = target[: line - 1] + target[line - 1 + missing :]
    for near in (drift_line(source, shorter), drift_line(shorter, source)):
        assert near is not None
        assert abs(near - line) <= NEAR


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_added_line_is_found(seed: int):
    source, target = parallel(seed)
    near = drift_line(source, [*target[:99], "a line that is nobody's translation", *target[99:]])
    assert near is not None
    assert abs(near - 100) <= NEAR


def test_lines_of_one_length_tell_nothing():
    assert drift_line(["same"] * 100, ["gleich"] * 99) is None


@pytest.mark.parametrize("seed", range(10))
def test_unrelated_texts_tell_nothing(seed: int):
    source, _ = parallel(seed)
    _, target = parallel(seed + 1000, LINES - 1)
    assert drift_line(source, target) is None


def test_a_missing_end_is_no_drift():
    source, target = parallel(1)
    assert drift_line(source, target[:-1]) is None
    assert drift_line(source, target[:-100]) is None


@pytest.mark.parametrize("lines", [0, 1, 5, 15])
def test_a_few_lines_tell_nothing(lines: int):
    source, target = parallel(1, lines + 1)
    assert drift_line(source, target[1:]) is None
