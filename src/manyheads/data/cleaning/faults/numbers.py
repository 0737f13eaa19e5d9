"""Numbers that the two sides do not share.

Languages write the same number in many ways: 1,000.5 is 1.000,5 or 1 000,5; 150万 is 1.5 million; 3 pm is 15 Uhr;
two, May and XIX have no digits at all. So a number counts by its digits without separators and outer zeros, and a pair
is at fault only if each side has numbers that the other has not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_NUMBER = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?")
_DIGITS = re.compile(r"\d+")
_WORDS = 12  # numbers up to here are often written as words, months or hours


def numbers_differ(source: str, target: str) -> bool:
    """Whether both sides have numbers, and each has some that the other has not."""
    if not (_has_digit(source) and _has_digit(target)):
        return False
    source, target = unicodedata.normalize("NFKC", source), unicodedata.normalize("NFKC", target)
    if "".join(_DIGITS.findall(source)) == "".join(_DIGITS.findall(target)):
        return False  # the same digits, grouped differently
    return all(_disagree(view.findall(source), view.findall(target)) for view in (_NUMBER, _DIGITS))


def _has_digit(text: str) -> bool:
    """Whether there is a digit."""
    return _DIGITS.search(text) is not None


def _disagree(source: list[str], target: list[str]) -> bool:
    """Whether each side has a number that the other has not, however it may be written."""
    ours, theirs = Counter(map(_significant, source)), Counter(map(_significant, target))
    return any(map(_is_telling, ours - theirs)) and any(map(_is_telling, theirs - ours))


def _significant(number: str) -> str:
    """Return the digits of a number that matter: 0.50 is 5, and so are 5,000 and 05."""
    return "".join(filter(str.isdigit, number)).strip("0")


def _is_telling(digits: str) -> bool:
    """Whether a number is one that is hardly ever written in words."""
    return bool(digits) and int(digits) > _WORDS
