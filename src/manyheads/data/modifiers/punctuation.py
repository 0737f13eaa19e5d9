"""Removes final punctuation, which people often omit, so that a model does not depend on it."""

from __future__ import annotations

from random import Random

from manyheads.data.text.records import Pair

FINAL = ".!?。！？…"


def without_final_punctuation(pair: Pair, random: Random) -> Pair:
    """Return both sides without final punctuation, if both have some and neither becomes empty."""
    stripped = Pair(*(side.rstrip(FINAL + " ") for side in pair))
    ends = all(side.endswith(tuple(FINAL)) for side in pair)
    return stripped if ends and all(stripped) else pair
