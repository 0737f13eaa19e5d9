"""Finds the faults of a parallel corpus before a model is trained on it.

| fault | a pair in which |
|---|---|
| `empty` | a side has no text |
| `wordless` | a side has no letter and no digit |
| `over_long` | a side has more characters than allowed |
| `unbalanced` | one side is far longer than usual for the other |
| `copied` | both sides are the same |
| `untranslated` | both sides are nearly the same, or share a long run of words |
| `badly_encoded` | a side is not UTF-8, or was decoded wrongly and encoded again (`fÃ¼r`), or has control characters |
| `wrong_script` | a side is not in the script of its language |
| `wrong_language` | a side is not in its language |
| `numbers` | each side has numbers that the other does not have |
| `placeholders` | the sides have different placeholders (`%s`, `{name}`, `<b>`, an address) |
| `duplicated` | both sides occurred together before |
| `near_duplicated` | the same, ignoring capitals, punctuation, digits and white space |

Each pair is checked on its own and read once, so a corpus of any size can be checked. Checks that need the language of
a side are skipped if it is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from manyheads.data.cleaning.faults.balance import Balance, usual_ratio
from manyheads.data.cleaning.faults.copying import copied, untranslated
from manyheads.data.cleaning.faults.encoding import badly_encoded
from manyheads.data.cleaning.faults.language import Language, Script
from manyheads.data.cleaning.faults.numbers import numbers_differ
from manyheads.data.cleaning.faults.repetition import Repetitions
from manyheads.data.text.records import Pair
from manyheads.documents.placeholders import same_placeholders

KINDS = (
    "empty",
    "wordless",
    "over_long",
    "unbalanced",
    "copied",
    "untranslated",
    "badly_encoded",
    "wrong_script",
    "wrong_language",
    "numbers",
    "placeholders",
    "duplicated",
    "near_duplicated",
)
SAMPLE = 10_000  # pairs at the beginning from which the usual ratio of lengths is measured

PairFault = Callable[[str, str], bool]
"""Returns whether a source and its target have the fault."""
TextFault = Callable[[str], bool]
"""Returns whether one text has the fault."""


@dataclass(frozen=True)
class Limits:
    """The limits: characters per side, and the factor by which the ratio of lengths may differ from the usual one."""

    characters: int = 1000
    ratio: float = 4.0


@dataclass
class Report:
    """The result of a check: the numbers of pairs and of faulty pairs, and the lines (from 1) of each kind of fault."""

    pairs: int = 0
    faulty: int = 0
    lines: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


class Checker:
    """Finds the faults of a pair, without regard to other pairs."""

    def __init__(
        self,
        limits: Limits,
        *,
        usual_ratio: float,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> None:
        languages = source_language, target_language
        balance = Balance(usual=usual_ratio, limit=limits.ratio)
        self._faults: dict[str, PairFault] = {
            "wordless": _on_either_side(lambda text: not _has_words(text)),
            "over_long": lambda source, target: max(len(source), len(target)) > limits.characters,
            "unbalanced": balance.is_unbalanced,
            "copied": copied,
            "untranslated": untranslated,
            "badly_encoded": _on_either_side(badly_encoded),
            "wrong_script": _either(*(None if code is None else Script(code).is_wrong for code in languages)),
            "wrong_language": _either(*(None if code is None else Language(code).is_wrong for code in languages)),
            "numbers": numbers_differ,
            "placeholders": lambda source, target: not same_placeholders(source, target),
        }

    def faults(self, pair: Pair) -> list[str]:
        """Return the kinds of fault of a pair."""
        source, target = pair.source.strip(), pair.target.strip()
        if not (source and target):
            return ["empty"]
        return [kind for kind, is_faulty in self._faults.items() if is_faulty(source, target)]


def check(
    pairs: Iterable[Pair],
    limits: Limits,
    report: Report,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Iterator[Pair]:
    """Yield the pairs without faults, and add all pairs to the report."""
    remaining = iter(pairs)
    first = list(itertools.islice(remaining, SAMPLE))
    checker = Checker(
        limits, usual_ratio=usual_ratio(first), source_language=source_language, target_language=target_language
    )
    repetitions = Repetitions()
    for number, pair in enumerate(itertools.chain(first, remaining), start=1):
        report.pairs += 1
        faults = checker.faults(pair)
        if "empty" not in faults and (repeated := repetitions.fault(pair)):
            faults.append(repeated)
        for kind in faults:
            report.lines[kind].append(number)
        if faults:
            report.faulty += 1
        else:
            yield pair


def _on_either_side(is_faulty: TextFault) -> PairFault:
    """Return the fault of a pair that has the fault of a text on either side."""
    return _either(is_faulty, is_faulty)


def _either(source_is_faulty: TextFault | None, target_is_faulty: TextFault | None) -> PairFault:
    """Return the fault of a pair whose source or target has a fault; a side with None is not checked."""

    def is_faulty(source: str, target: str) -> bool:
        """Return whether one of the sides has its fault."""
        return bool((source_is_faulty and source_is_faulty(source)) or (target_is_faulty and target_is_faulty(target)))

    return is_faulty


def _has_words(text: str) -> bool:
    """Return whether a text has a letter or a digit of any script."""
    return any(character.isalnum() for character in text)
