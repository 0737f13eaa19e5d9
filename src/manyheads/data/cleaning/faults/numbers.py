"""Detects numbers that differ between the two sides.

Languages write the same number in many ways: 1,000.5 is 1.000,5 or 1 000,5; 150万 is 1.5 million; 3 pm is 15 Uhr;
two, May and XIX have no digits at all. So numbers are compared by their digits without separators and without leading
and trailing zeros, and a pair has the fault only if each side has numbers that the other does not have.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_NUMBER = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?")
_DIGITS = re.compile(r"\d+")
_WORDS = 12  # numbers up to this one are often written as words, months or hours


def numbers_differ(source: str, target: str) -> bool:
    """Return whether each side has numbers that the other does not have."""
    if not (_has_digit(source) and _has_digit(target)):
        return False
    source, target = unicodedata.normalize("NFKC", source), unicodedata.normalize("NFKC", target)
    if "".join(_DIGITS.findall(source)) == "".join(_DIGITS.findall(target)):
        return False  # the same digits, grouped differently
    return all(_disagree(pattern.findall(source), pattern.findall(target)) for pattern in (_NUMBER, _DIGITS))


def _has_digit(text: str) -> bool:
    """Return whether a text has a digit."""
    return _DIGITS.search(text) is not None


def _disagree(source: list[str], target: list[str]) -> bool:
    """Return whether each list has a number that the other does not have, in any notation."""
    sources, targets = Counter(map(_significant, source)), Counter(map(_significant, target))
    return any(map(_is_large, sources - targets)) and any(map(_is_large, targets - sources))


def _significant(number: str) -> str:
    """Return the significant digits of a number: 5 for 0.50, for 5,000 and for 05."""
    return "".join(filter(str.isdigit, number)).strip("0")


def _is_large(digits: str) -> bool:
    """Return whether a number is so large that it is hardly ever written in words."""
    return bool(digits) and int(digits) > _WORDS
