"""Missing punctuation: people leave out the last stop, and a model should not lose its way without it."""

from __future__ import annotations

from random import Random

from manyheads.data.text.records import Pair

FINAL = ".!?。！？…"


def without_final_punctuation(pair: Pair, random: Random) -> Pair:
    """Return both sides without the punctuation at their ends, if both have it and something is left."""
    stripped = Pair(*(side.rstrip(FINAL + " ") for side in pair))
    ends = all(side.endswith(tuple(FINAL)) for side in pair)
    return stripped if ends and all(stripped) else pair
