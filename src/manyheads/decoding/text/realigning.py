"""The attention of an output whose placeholders were put back: between the tokens of the whole texts.

A token of a whole text has the attention of the tokens of the model's text that stand in its place. The tokens of a
placeholder attend to those of the same placeholder in the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from manyheads.documents.splices import Splice

Array = NDArray[np.float64]


def realigned(
    attention: Sequence[Sequence[float]],
    read: tuple[Sequence[int], Sequence[int], Sequence[Splice]],
    written: tuple[Sequence[int], Sequence[int], Sequence[Splice]],
) -> list[list[float]]:
    """Return the attention between whole texts [T', S'], each with a last column or row for the end token.

    Args:
        attention: The attention between the texts of the model [T, S], with their end tokens.
        read: For the source, the offsets at which the model's tokens end and at which those of the whole text end, and
            the splices that make the whole text.
        written: The same for the output; its splices are in the order of the source's.
    """
    sources, source_placeholders = _shares(*read)
    targets, target_placeholders = _shares(*written)
    weights = np.asarray(attention, dtype=np.float64)
    known = _with_end(targets)[:, : weights.shape[0]] @ weights @ _with_end(sources).T[: weights.shape[1]]
    same = target_placeholders @ source_placeholders.T  # [T' - 1, S' - 1]
    is_placeholder = target_placeholders.any(axis=1)
    known[: len(same)][is_placeholder] = 0.0
    known[: same.shape[0], : same.shape[1]] += same
    rows: list[list[float]] = (known / np.maximum(known.sum(axis=1, keepdims=True), 1e-9)).tolist()
    return rows


def _shares(ends: Sequence[int], whole_ends: Sequence[int], splices: Sequence[Splice]) -> tuple[Array, Array]:
    """Return which tokens of the model [whole, model] and which placeholders [whole, splices] each token stands for."""
    shifts, places = _layout(splices)
    tokens = np.zeros((len(whole_ends), len(ends)))
    placeholders = np.zeros((len(whole_ends), len(splices)))
    moved = [(_moved(start, shifts), _moved(end - 1, shifts) + 1) for start, end in _spans(ends)]
    for row, (start, end) in enumerate(_spans(whole_ends)):
        for column, (first, last) in enumerate(moved):
            tokens[row, column] = max(0, min(end, last) - max(start, first)) / max(1, last - first)
        for column, (first, last) in enumerate(places):
            placeholders[row, column] = max(0, min(end, last) - max(start, first)) / max(1, last - first)
    return tokens, placeholders


def _spans(ends: Sequence[int]) -> list[tuple[int, int]]:
    """Return the span of each token; one that spells nothing by itself has that of the next character."""
    return [(start, max(end, start + 1)) for start, end in pairwise([0, *ends])]


def _layout(splices: Sequence[Splice]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return by how much offsets from each splice on are shifted, and the span of each splice in the whole text."""
    shift, shifts, places = 0, [], {}
    for number, splice in sorted(enumerate(splices), key=lambda one: one[1].start):
        start = splice.start + shift
        places[number] = start, start + len(splice.text)
        shift += len(splice.text) - (splice.end - splice.start)
        shifts.append((splice.end, shift))
    return shifts, [places[number] for number in range(len(splices))]


def _moved(offset: int, shifts: Sequence[tuple[int, int]]) -> int:
    """Return where an offset of the model's text is in the whole text."""
    return offset + next((shift for start, shift in reversed(shifts) if offset >= start), 0)


def _with_end(shares: Array) -> Array:
    """Return shares with one more row and column, for the end token."""
    rows, columns = shares.shape
    whole = np.zeros((rows + 1, columns + 1))
    whole[:rows, :columns] = shares
    whole[rows, columns] = 1.0
    return whole
