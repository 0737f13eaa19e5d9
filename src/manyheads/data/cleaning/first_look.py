"""A look at the data before a model is trained on it: how many pairs, which languages, and the faults worth knowing.

It sees the pairs while they are read for another purpose, and keeps some thousands of them, spread over the corpus.
Duplicates are counted among the pairs with certain hashes, since a sample by place would hardly have two equal pairs.
"""

from __future__ import annotations

import hashlib
import random
import shlex
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from manyheads.config.corpora import CorpusSettings
from manyheads.data.cleaning.checking import Checker, Limits, TextFault
from manyheads.data.cleaning.faults.balance import usual_ratio
from manyheads.data.cleaning.faults.language import Language, Script
from manyheads.data.formats.languages import SideLanguages, detected_languages
from manyheads.data.text.records import Pair

SAMPLE = 5000  # pairs of all corpora together that are looked at, at most
SEED = 1  # of the sample, so that the same is said of the same corpus
LANGUAGE_SAMPLE = 500  # of these, pairs whose language is detected, which takes longest

# The share of pairs from which a fault is worth knowing, and its description.
WORTH_KNOWING = {
    "empty": (0.005, "with an empty side"),
    "unbalanced": (0.02, "with one side far too long for the other (are the lines aligned?)"),
    "untranslated": (0.02, "not translated"),
    "badly_encoded": (0.005, "badly encoded"),
    "wrong_script": (0.01, "in a wrong script"),
    "wrong_language": (0.03, "in a wrong language"),
    "numbers": (0.02, "with different numbers"),
    "duplicated": (0.05, "duplicated"),
}


class FirstLook:
    """Looks at the pairs of one or several corpora, each in one direction."""

    def __init__(self) -> None:
        self.languages: SideLanguages | None = None  # of the only corpus, where they are known
        self._seen: list[SeenCorpus] = []

    def through(self, settings: CorpusSettings, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """Return the pairs of a corpus, which are looked at on the way; the other direction of the last one is not."""
        if self._seen and settings == self._seen[-1].settings.reversed:
            return pairs
        self._seen.append(SeenCorpus(settings))
        return self._seen[-1].through(pairs)

    @property
    def count(self) -> int:
        """The number of pairs of all corpora."""
        return sum(seen.count for seen in self._seen)

    @property
    def direction(self) -> SideLanguages | None:
        """The languages of the only corpus, known or detected; None if there are several, or they are uncertain."""
        return (self.languages or self._seen[0].detected) if len(self._seen) == 1 else None

    def remarks(self) -> list[str]:
        """Return a sentence on each corpus, and one on its faults if there are any worth knowing."""
        most = max(1, SAMPLE // max(1, len(self._seen)))
        known = self.languages if len(self._seen) == 1 else None
        return [sentence for seen in self._seen for sentence in seen.remarks(known, most=most)]


class SeenCorpus:
    """A corpus as far as it was seen."""

    def __init__(self, settings: CorpusSettings) -> None:
        self.settings = settings
        self.count = 0
        self.detected: SideLanguages | None = None  # the languages that `remarks` has found
        self._chance = random.Random(SEED)
        self._sample: list[Pair] = []
        self._hashes = _HashSample()

    def through(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """Yield the pairs, and keep a sample in which each pair is equally probable [Vitter 1985, algorithm R]."""
        for pair in pairs:
            self.count += 1
            if self.count <= SAMPLE:
                self._sample.append(pair)
            elif (place := int(self._chance.random() * self.count)) < SAMPLE:
                self._sample[place] = pair
            self._hashes.add(pair)
            yield pair

    def remarks(self, known: SideLanguages | None, *, most: int) -> list[str]:
        """Return one or two sentences, from at most this number of pairs."""
        sample = _thinned(self._sample, most)
        self.detected = None if known else self._languages(sample)
        languages = known or self.detected
        medians = [f"{statistics.median_low(len(pair[side]) for pair in sample):,}" for side in (0, 1) if sample]
        facts = [
            f"{self.count:,} pairs",
            "both directions" if self._goes_both_ways(known) else "",
            str(languages or "languages unknown"),
            f"median length {' and '.join(medians)} characters" if medians else "",
        ]
        first = f"{self._name}: {', '.join(fact for fact in facts if fact)}."
        faults = self._faults(sample, languages)
        if not faults:
            return [first]
        listed = "; ".join(f"{_percent(share)} {WORTH_KNOWING[kind][1]}" for kind, share in faults.items())
        return [first, f"Of {len(sample):,} pairs that were checked: {listed}. Lines: {self._command(languages)}"]

    def _goes_both_ways(self, known: SideLanguages | None) -> bool:
        """Whether it is known that the model learns both directions."""
        return known is not None and self.settings.target_language is not None

    @property
    def _name(self) -> str:
        """The corpus, for the beginning of a sentence."""
        one = self.settings
        return one.pairs or (f"{one.source} and {one.target}" if one.task is None else f"The task {one.task}")

    def _languages(self, sample: Sequence[Pair]) -> SideLanguages | None:
        """Return the languages that the recipe names, or those that are detected; None if they are uncertain."""
        source, target = self.settings.source_language, self.settings.target_language
        if source is not None and target is not None:
            return SideLanguages(source, target, "as given")
        if self.settings.task is not None:
            return None
        found = detected_languages(_thinned(sample, LANGUAGE_SAMPLE), self.settings)
        if found[0] is None or found[1] is None or found[0] == found[1]:
            return None
        return SideLanguages(found[0], found[1], "detected")

    def _faults(self, sample: Sequence[Pair], languages: SideLanguages | None) -> dict[str, float]:
        """Return the share of every fault that is worth knowing."""
        checker = Checker(Limits(), usual_ratio=usual_ratio(sample))
        found = Counter(kind for pair in sample for kind in checker.faults(pair))
        shares = {kind: number / len(sample) for kind, number in found.items()}
        shares["untranslated"] = shares.get("copied", 0.0) + shares.get("untranslated", 0.0)
        shares["duplicated"] = self._hashes.repeated()
        if languages is not None:
            shares |= _foreign(_thinned(sample, LANGUAGE_SAMPLE), languages)
        return {kind: shares[kind] for kind, (least, _) in WORTH_KNOWING.items() if shares.get(kind, 0.0) > least}

    def _command(self, languages: SideLanguages | None) -> str:
        """Return the command that shows the lines of the faulty pairs."""
        one = self.settings
        columns = one.source_column, one.target_column
        words: list[object] = ["--source", one.source, "--target", one.target]
        if one.pairs is not None:
            words = ["--pairs", one.pairs, *(["--format", one.format] if one.format != "auto" else [])]
            words += ["--source-column", columns[0], "--target-column", columns[1]] if columns != (0, 1) else []
        if languages is not None:
            words += ["--source-language", languages.source, "--target-language", languages.target]
        return shlex.join(["manyheads", "data", "check", *map(str, words)])


class _HashSample:
    """All pairs whose hashes are divisible by a power of two, which grows with the number of different pairs."""

    def __init__(self) -> None:
        self._times: Counter[int] = Counter()
        self._mask = 0

    def add(self, pair: Pair) -> None:
        """Count a pair, if its hash is divisible."""
        text = f"{pair.source}\t{pair.target}".encode("utf-8", "replace")
        number = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
        if number & self._mask:
            return
        self._times[number] += 1
        if len(self._times) > SAMPLE:
            self._mask = 2 * self._mask + 1
            self._times = Counter({one: times for one, times in self._times.items() if not one & self._mask})

    def repeated(self) -> float:
        """Return the share of pairs that occurred before."""
        return 1.0 - len(self._times) / max(1, self._times.total()) if self._times else 0.0


def _foreign(sample: Sequence[Pair], languages: SideLanguages) -> dict[str, float]:
    """Return the shares of pairs with a side in a wrong script or in a wrong language."""
    codes = languages.source, languages.target
    checks: dict[str, list[TextFault]] = {
        "wrong_script": [Script(code).is_wrong for code in codes],
        "wrong_language": [Language(code).is_wrong for code in codes],
    }
    count = max(1, len(sample))
    return {
        kind: sum(source_is_wrong(pair.source) or target_is_wrong(pair.target) for pair in sample) / count
        for kind, (source_is_wrong, target_is_wrong) in checks.items()
    }


def _thinned(sample: Sequence[Pair], most: int) -> Sequence[Pair]:
    """Return at most this number of the pairs."""
    return sample if len(sample) <= most else random.Random(SEED).sample(sample, most)


def _percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
