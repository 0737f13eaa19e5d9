"""Weights survive their file bit by bit; one that is damaged or does not fit says so."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manyheads.errors import ManyheadsError
from manyheads.runs.weights import Arrays, check_names, read_float32, read_weights, shapes, weights_bytes

RANDOM = np.random.default_rng(1)
ARRAYS = {
    "b": RANDOM.normal(size=(3, 4)).astype(np.float32),
    "a": np.array([3.4e38, -0.0, 1e-45], dtype=np.float32),
    "empty": np.zeros((0, 2), dtype=np.float32),
    "scalar": np.array(3, dtype=np.float32),
}


def test_arrays_survive_bit_by_bit(tmp_path: Path):
    (tmp_path / "file").write_bytes(weights_bytes(ARRAYS))
    found = read_weights(tmp_path / "file")
    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].tobytes() == array.tobytes()
        assert found[name].shape == array.shape


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("read", [read_weights, read_float32])
def test_numbers_that_are_none_are_refused(tmp_path: Path, number: float, read: Callable[[Path], Arrays]):
    arrays = {"fine": ARRAYS["b"], "wrong": np.array([1.0, number], dtype=np.float16)}
    (tmp_path / "file").write_bytes(weights_bytes(arrays))
    with pytest.raises(ManyheadsError, match=r"file: the weights are damaged: wrong has a number that is infinite"):
        read(tmp_path / "file")


def test_the_same_arrays_give_the_same_bytes():
    reordered = {name: ARRAYS[name] for name in sorted(ARRAYS, reverse=True)}
    assert weights_bytes(ARRAYS) == weights_bytes(reordered)
    turned = {"x": np.asfortranarray(ARRAYS["b"])}
    assert weights_bytes(turned) == weights_bytes({"x": ARRAYS["b"]})


WHOLE = weights_bytes(ARRAYS)


@pytest.mark.parametrize("content", [b"", b"words", WHOLE[:-1], WHOLE[:5], WHOLE[:100], b"\xff" * 100])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ManyheadsError, match="damaged") as caught:
        read_weights(tmp_path / "file")
    assert caught.value.where == str(tmp_path / "file")


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="missing"):
        read_weights(tmp_path / "file")


def test_everything_that_does_not_fit_is_named_at_once():
    wanted = {"a": ARRAYS["a"].shape, "b": (4, 3), "c": (2, 2)}
    with pytest.raises(ManyheadsError) as caught:
        check_names(shapes({"a": ARRAYS["a"], "b": ARRAYS["b"], "d": ARRAYS["a"]}.items()), wanted, where="file")
    assert str(caught.value).splitlines() == [
        "file: the weights do not fit the model:",
        "  - missing: c (2, 2)",
        "  - unknown: d",
        "  - wrong shape: b is (3, 4), (4, 3) is expected",
    ]
    check_names({"a": (1,)}, {"a": (1,)}, where="file")
