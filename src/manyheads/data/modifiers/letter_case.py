"""Capitals, as in headlines and forms: a model never trained on them would split such words into single letters."""

from __future__ import annotations

import re
from random import Random

from manyheads.data.modifiers.interface import outside_symbols
from manyheads.data.text.records import Pair

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def upper_case(pair: Pair, random: Random) -> Pair:
    """Return both sides in capitals, if the source has letters with upper and lower case."""
    if pair.source.upper() == pair.source.lower():
        return pair
    return Pair(*(outside_symbols(side, str.upper) for side in pair))


def title_case(pair: Pair, random: Random) -> Pair:
    """Return both sides with every word capitalised, if the source has letters with upper and lower case."""
    if pair.source.upper() == pair.source.lower():
        return pair
    return Pair(*(outside_symbols(side, _capitalised) for side in pair))


def _capitalised(text: str) -> str:
    """Return a text with the first letter of each word as a capital, and the others unchanged."""
    return WORD.sub(lambda word: word[0][:1].upper() + word[0][1:], text)
