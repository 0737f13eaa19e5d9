"""Sequences of unequal lengths as one array, padded on the right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rectangle = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Ids [B, S] and the lengths of the rows [B]."""


def rectangle(rows: Sequence[Sequence[int]], padding: int) -> Rectangle:
    """Return sequences as one rectangle of ids [B, S], padded on the right, and their lengths [B]."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    ids = np.full((len(rows), int(lengths.max())), padding, dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    return ids, lengths


def unpadded(rectangle: Rectangle) -> list[list[int]]:
    """Return the rows of a rectangle without their padding."""
    ids, lengths = rectangle
    return [row[:length] for row, length in zip(ids.tolist(), lengths.tolist(), strict=True)]
