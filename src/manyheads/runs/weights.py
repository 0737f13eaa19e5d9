"""Tensors on disk as safetensors, read and checked without torch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from manyheads.bounded.files import require_regular
from manyheads.errors import ManyheadsError

Arrays = dict[str, NDArray[np.generic]]
SCALE = ".scale"  # suffix of the scales of a matrix that is stored in 8 bits: one factor per row
LARGEST = 127
MOST_LISTED = 200  # differences in one message


def weights_bytes(arrays: Mapping[str, NDArray[np.generic]], *, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return arrays by name as the content of a safetensors file; the same arrays always give the same bytes."""
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    content: bytes = save(ordered, metadata=dict(metadata) if metadata else None)
    return content


def read_weights(path: Path) -> Arrays:
    """Return the arrays of a safetensors file by name; matrices that are stored in 8 bits are returned as float32."""
    with _readable(path), safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    _check_finite(arrays, where=str(path))
    return _widened(arrays)


def in_eight_bits(arrays: Arrays, *, finer: Collection[str] = ()) -> Arrays:
    """Return the arrays with every matrix in 8 bits and one scale per row; matrices named in `finer` in 16 bits."""
    narrow: Arrays = {}
    for name, array in arrays.items():
        if array.ndim != 2:
            narrow[name] = array
            continue
        if name in finer:
            narrow[name] = array.astype(np.float16)
            continue
        rows = array.astype(np.float32)
        scale = np.maximum(np.abs(rows).max(axis=1), np.finfo(np.float32).tiny) / LARGEST
        narrow[name] = np.rint(rows / scale[:, None]).astype(np.int8)
        narrow[name + SCALE] = scale.astype(np.float32)
    return narrow


def _widened(arrays: Arrays) -> Arrays:
    """Undo `in_eight_bits`, except for its rounding."""
    scales = {name: arrays[name + SCALE].astype(np.float32)[:, None] for name in arrays if name + SCALE in arrays}
    if not scales:
        return arrays
    return {
        name: np.multiply(array, scales[name], dtype=np.float32) if name in scales else array.astype(np.float32)
        for name, array in arrays.items()
        if not (name.endswith(SCALE) and name.removesuffix(SCALE) in scales)
    }


def read_float32(path: Path) -> Arrays:
    """Return the arrays of a safetensors file by name, converted from any type to float32; this needs torch."""
    with (
        _readable(path),
        safe_open(path, framework="pt") as file,
    ):  # numpy has no bfloat16; tensors are views of the mapped file, so they are cloned
        arrays = {name: file.get_tensor(name).float().clone().numpy() for name in file.keys()}  # noqa: SIM118
    _check_finite(arrays, where=str(path))
    return arrays


def _check_finite(arrays: Arrays, *, where: str) -> None:
    """Refuse weights that are infinite or not a number: all that is computed with one of them is wrong."""
    for name, array in arrays.items():
        if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            raise ManyheadsError(
                f"the weights are damaged: {name} has a number that is infinite or not a number.", where=where
            )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn an error of reading into a ManyheadsError."""
    try:
        require_regular(path)
        yield
    except FileNotFoundError:
        raise ManyheadsError("the weights are missing.", where=str(path)) from None
    except (SafetensorError, OSError) as error:
        raise ManyheadsError(f"the weights are damaged: {error}.", where=str(path)) from None
    except (TypeError, KeyError, AttributeError) as error:  # numpy has neither bfloat16 nor shorter types
        raise ManyheadsError(
            f"the weights are of a type that cannot be read: {error}.", where=str(path), cure="Save them as float32."
        ) from None


def check_names(actual: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]], *, where: str) -> None:
    """Compare the actual shapes by name with the expected ones; one error lists all differences."""
    problems = [f"missing: {name} {shape}" for name, shape in expected.items() if name not in actual]
    problems += [f"unknown: {name}" for name in actual if name not in expected]
    problems += [
        f"wrong shape: {name} is {actual[name]}, {shape} is expected"
        for name, shape in expected.items()
        if name in actual and tuple(actual[name]) != tuple(shape)
    ]
    if problems:
        listed = "".join(f"\n  - {problem}" for problem in problems[:MOST_LISTED])
        if len(problems) > MOST_LISTED:
            listed += f"\n  - and {len(problems) - MOST_LISTED:,} more"
        raise ManyheadsError(f"the weights do not fit the model:{listed}", where=where)


def shapes(arrays: Iterable[tuple[str, NDArray[np.generic]]]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array by name."""
    return {name: tuple(array.shape) for name, array in arrays}
