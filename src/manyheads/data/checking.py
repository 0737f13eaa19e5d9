"""Looking for what spoils a parallel corpus, before a day of training does.

| fault | a pair in which |
|---|---|
| `empty` | a side has no text |
| `wordless` | a side has no letter and no digit |
| `over_long` | a side has more characters than allowed |
| `unbalanced` | one side is far longer than usual for its partner |
| `duplicated` | both sides have occurred together before |
| `copied` | both sides are the same |
| `badly_encoded` | a side is not UTF-8, or was decoded wrongly and encoded again (`fÃ¼r`), or has control characters |

Each pair is judged alone and read once, so a corpus of any size can be checked.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import statistics
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from manyheads.data.pairs import Pair

KINDS = ("empty", "wordless", "over_long", "unbalanced", "duplicated", "copied", "badly_encoded")
SAMPLE = 10_000  # first pairs that tell what balance is usual
SHORT = 12  # characters; below it, lengths vary too much for balance to mean anything
WORTH_COPYING = 3  # words; shorter texts, such as names, are often rightly the same in two languages


@dataclass(frozen=True)
class Limits:
    """What is still allowed: characters of a side, and how many times the usual ratio of lengths."""

    characters: int = 1000
    ratio: float = 4.0


@dataclass
class Report:
    """What was found: the number of pairs, and the lines (from 1) of each kind of fault."""

    pairs: int = 0
    faulty: int = 0
    lines: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


class Checker:
    """Judges pairs one after the other; it remembers only a hash of each, to know it again."""

    def __init__(self, limits: Limits, *, usual_ratio: float) -> None:
        self._limits = limits
        self._usual = math.log(usual_ratio)
        self._seen: set[bytes] = set()

    def faults(self, pair: Pair) -> list[str]:
        """Return the kinds of fault that a pair has."""
        sides = [side.strip() for side in pair]
        if not all(sides):
            return ["empty"]
        found = [
            ("wordless", not all(_has_words(side) for side in sides)),
            ("over_long", max(map(len, sides)) > self._limits.characters),
            ("unbalanced", self._is_unbalanced(*sides)),
            ("duplicated", self._is_known(*sides)),
            ("copied", sides[0] == sides[1] and len(sides[0].split()) >= WORTH_COPYING),
            ("badly_encoded", any(map(badly_encoded, sides))),
        ]
        return [kind for kind, here in found if here]

    def _is_unbalanced(self, source: str, target: str) -> bool:
        """Whether the lengths' ratio is further from the usual one than the limit allows."""
        if max(len(source), len(target)) < SHORT:
            return False
        return abs(math.log(len(source) / len(target)) - self._usual) > math.log(self._limits.ratio)

    def _is_known(self, source: str, target: str) -> bool:
        """Whether the pair occurred before; now it has."""
        digest = hashlib.blake2b(f"{source}\t{target}".encode("utf-8", "replace"), digest_size=16).digest()
        known = digest in self._seen
        self._seen.add(digest)
        return known


def check(pairs: Iterable[Pair], limits: Limits, report: Report) -> Iterator[Pair]:
    """Yield the pairs without fault, and write down the others in the report."""
    remaining = iter(pairs)
    first = list(itertools.islice(remaining, SAMPLE))
    checker = Checker(limits, usual_ratio=usual_ratio(first))
    for number, pair in enumerate(itertools.chain(first, remaining), start=1):
        report.pairs += 1
        faults = checker.faults(pair)
        for kind in faults:
            report.lines[kind].append(number)
        if faults:
            report.faulty += 1
        else:
            yield pair


def usual_ratio(pairs: Iterable[Pair]) -> float:
    """Return the median ratio of source to target length."""
    ratios = [len(source) / len(target) for source, target in pairs if source and target]
    return statistics.median(ratios) if ratios else 1.0


def _has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script."""
    return any(character.isalnum() for character in text)


def badly_encoded(text: str) -> bool:
    """Whether a text shows the traces of a wrong encoding.

    UTF-8 read as Windows-1252 gives text that goes back through Windows-1252 to valid UTF-8; real text with accents
    practically never does.
    """
    if "\ufffd" in text or any(unicodedata.category(one) == "Cc" for one in text if one != "\t"):
        return True
    if text.isascii():
        return False
    try:
        return text.encode("cp1252").decode("utf-8") != text
    except UnicodeError:
        return False
