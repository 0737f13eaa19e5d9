"""Replaces numbers: a corpus has a few thousand different ones, but a model must copy numbers it has never seen."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from manyheads.data.modifiers.interface import outside_symbols
from manyheads.data.text.records import Pair

NUMBER = re.compile(r"(?<![\w.,])\d{2,}(?![\w]|[.,]\d)", re.ASCII)  # a whole number, not a part of 1,000.5 or a name
SPACE_BEFORE = re.compile(r"\d[\s\u00a0\u202f]$")  # before the second half of a number such as 1 000


def other_numbers(pair: Pair, random: Random) -> Pair:
    """Return both sides with other numbers of the same length in place of those that occur once on each side."""
    counts = [Counter(_numbers(side)) for side in pair]
    both = sorted(number for number, count in counts[0].items() if count == 1 and counts[1][number] == 1)
    if not both:
        return pair
    replacements = {number: _random_number(number, random) for number in both}

    def replaced(text: str) -> str:
        """Return a text with its numbers replaced."""
        return NUMBER.sub(lambda number: replacements.get(number[0], number[0]), text)

    return Pair(*(outside_symbols(side, replaced) for side in pair))


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text that are not part of a longer number."""
    return [match[0] for match in NUMBER.finditer(text) if not SPACE_BEFORE.search(text[: match.start()])]


def _random_number(number: str, random: Random) -> str:
    """Return a random number of the same length, with a leading zero only if there was one; a year for a year."""
    if len(number) == 4 and number[:2] in ("19", "20"):
        return str(random.randrange(1900, 2100))
    first = "0" if number[0] == "0" else random.choice("123456789")
    return first + "".join(random.choice("0123456789") for _ in number[1:])
