"""Other numbers: a corpus has a few thousand different ones, and a model must copy those that it has never seen."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from manyheads.data.modifiers.interface import outside_symbols
from manyheads.data.text.records import Pair

NUMBER = re.compile(r"(?<![\w.,])\d{2,}(?![\w]|[.,]\d)", re.ASCII)  # alone, not a part of 1,000.5 or of a name
SPACE_BEFORE = re.compile(r"\d[\s\u00a0\u202f]$")  # 1 000: the second half of a number


def other_numbers(pair: Pair, random: Random) -> Pair:
    """Return both sides with other numbers of the same length in the place of those that each side has once."""
    found = [Counter(_numbers(side)) for side in pair]
    both = sorted(number for number, count in found[0].items() if count == 1 and found[1][number] == 1)
    if not both:
        return pair
    changed = {number: _drawn(number, random) for number in both}

    def replaced(text: str) -> str:
        """Return a text with the numbers changed."""
        return NUMBER.sub(lambda number: changed.get(number[0], number[0]), text)

    return Pair(*(outside_symbols(side, replaced) for side in pair))


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text that stand alone."""
    return [one[0] for one in NUMBER.finditer(text) if not SPACE_BEFORE.search(text[: one.start()])]


def _drawn(number: str, random: Random) -> str:
    """Return another number with as many digits, with a zero in front only where there was one; years stay years."""
    if len(number) == 4 and number[:2] in ("19", "20"):
        return str(random.randrange(1900, 2100))
    first = "0" if number[0] == "0" else random.choice("123456789")
    return first + "".join(random.choice("0123456789") for _ in number[1:])
