"""A pair of texts, which is what every corpus and every generated task is made of."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """One training example: a source text and the target text it should become."""

    source: str
    target: str
