"""Looking for what spoils a parallel corpus, before a day of training does.

| fault | a pair in which |
|---|---|
| `empty` | a side has no text |
| `wordless` | a side has no letter and no digit |
| `over_long` | a side has more characters than allowed |
| `unbalanced` | one side is far longer than usual for its partner |
| `copied` | both sides are the same |
| `untranslated` | both sides are nearly the same, or share a long run of words |
| `badly_encoded` | a side is not UTF-8, or was decoded wrongly and encoded again (`fÃ¼r`), or has control characters |
| `wrong_script` | a side is in another script than its language |
| `wrong_language` | a side is in another language than it should be |
| `numbers` | each side has numbers that the other has not |
| `placeholders` | the sides have different placeholders (`%s`, `{name}`, `<b>`, an address) |
| `duplicated` | both sides have occurred together before |
| `near_duplicated` | they have, but for capitals, punctuation, digits and white space |

Each pair is judged alone and read once, so a corpus of any size can be checked. What needs to know a language is not
looked for where it is unknown.
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
from manyheads.data.text.placeholders import same_placeholders
from manyheads.data.text.records import Pair

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
SAMPLE = 10_000  # first pairs that tell what balance is usual

Fault = Callable[[str, str], bool]
"""Whether a source and its target have it."""
OneSided = Callable[[str], bool]


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
    """Judges each pair by itself."""

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
        self._faults: dict[str, Fault] = {
            "wordless": _on_a_side(lambda text: not _has_words(text)),
            "over_long": lambda source, target: max(len(source), len(target)) > limits.characters,
            "unbalanced": balance.is_unbalanced,
            "copied": copied,
            "untranslated": untranslated,
            "badly_encoded": _on_a_side(badly_encoded),
            "wrong_script": _on_either(*(None if one is None else Script(one).is_wrong for one in languages)),
            "wrong_language": _on_either(*(None if one is None else Language(one).is_wrong for one in languages)),
            "numbers": numbers_differ,
            "placeholders": lambda source, target: not same_placeholders(source, target),
        }

    def faults(self, pair: Pair) -> list[str]:
        """Return the kinds of fault that a pair has."""
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
    """Yield the pairs without fault, and write down the others in the report."""
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


def _on_a_side(is_faulty: OneSided) -> Fault:
    """Return the fault of a pair with that of a text on either side."""
    return _on_either(is_faulty, is_faulty)


def _on_either(source_is_faulty: OneSided | None, target_is_faulty: OneSided | None) -> Fault:
    """Return the fault of a pair with one of these on its side; None finds nothing."""

    def is_faulty(source: str, target: str) -> bool:
        """Whether one of the sides has its fault."""
        return bool((source_is_faulty and source_is_faulty(source)) or (target_is_faulty and target_is_faulty(target)))

    return is_faulty


def _has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script."""
    return any(character.isalnum() for character in text)
