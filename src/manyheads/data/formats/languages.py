"""The languages of the two sides of a corpus: as the names of files and columns say, or detected in the texts.

| named by | example |
|---|---|
| the endings of two files | `train.en.gz` and `train.de.gz`, `news-en.txt` and `news-de.txt` |
| two languages of a memory | `--source-language en --to de`, or as it says what was translated from |
| two columns or keys | `--source-column en --target-column de`, or a header with `English,German` |

The name of a file of pairs, such as `train.en-de.tsv`, does not say which column is which. So only these two languages
are then considered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.detection import BEGINNING, format_of
from manyheads.data.formats.memories import are_memories
from manyheads.data.formats.spreadsheet import records
from manyheads.data.text.compression import SUFFIXES
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.detection import Detector, detectable_languages
from manyheads.data.text.files import read_lines, text_files
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

TOGETHER = 10  # lines that are detected together, since a single one is often too short
ENOUGH = 500  # lines from which languages are detected
AGREED = 0.8  # the share of the detections that must agree
FEWEST_WORDS = 2  # in a text of a script with spaces, on average: the language of single words is often mistaken
_UNSPACED = "\u0e00"  # scripts from Thai on are mostly written without spaces between words; Hangul does no harm
_PAIR = re.compile(r"(?:^|[._-])([a-z]{2})[-_]([a-z]{2})\.")
_CODE = re.compile(r"[a-z]{2,8}(-[A-Za-z]+)*")


class SideLanguages(NamedTuple):
    """The languages of source and target, and how they are known."""

    source: str
    target: str
    how: str

    def __str__(self) -> str:
        return f"{self.source} → {self.target} ({self.how})"


def find_languages(
    settings: CorpusSettings, *, source: str | None = None, target: str | None = None
) -> SideLanguages | None:
    """Return the languages as given, or as names say for a side that is not; None if one of them remains unknown."""
    if are_memories(settings.pairs, settings.format):
        return checked(SideLanguages(str(settings.source_column), str(settings.target_column), "by the memory"))
    source, target = _as_code(source), _as_code(target)
    if source is not None and target is not None:
        return checked(SideLanguages(source, target, "as given"))
    named = _of_columns(settings) if settings.pairs is not None else _of_files(settings)
    codes = source or named[0], target or named[1]
    if codes[0] is None or codes[1] is None or codes[0] == codes[1]:
        return None
    place = "columns" if settings.pairs is not None else "files"
    return checked(SideLanguages(codes[0], codes[1], f"by the names of the {place}"))


def surely_languages(
    settings: CorpusSettings, *, source: str | None = None, target: str | None = None
) -> SideLanguages:
    """Return the languages as given, as named, or as detected at the beginning; raise an error if they are alike."""
    found = find_languages(settings, source=source, target=target)
    if found is not None:
        return found
    pairs = list(islice(open_corpus(settings, split="train").pairs(), ENOUGH))
    seen = detected_languages(pairs, settings)
    codes = _as_code(source) or seen[0], _as_code(target) or seen[1]
    if codes[0] is None or codes[1] is None or codes[0] == codes[1]:
        seen_as = ", ".join(f"{side}: {code or 'unknown'}" for side, code in _sides(codes))
        raise ManyheadsError(
            f"the languages of the two sides cannot be told apart ({seen_as}).",
            where=settings.pairs or f"{settings.source} and {settings.target}",
            cure="Name them: --source-language en --target-language de",
        )
    return checked(SideLanguages(codes[0], codes[1], "detected"))


def checked(languages: SideLanguages) -> SideLanguages:
    """Return the languages if they can be told apart by their codes; raise an error otherwise."""
    for side, code in _sides(languages):
        if not _CODE.fullmatch(code or ""):
            raise ManyheadsError(
                f"'{code}' is not the code of a language.",
                where=f"--{side}-language",
                cure="Codes look like en, de or zh-Hans.",
            )
    if languages.source == languages.target:
        raise ManyheadsError(
            f"both sides cannot be in '{languages.source}'.",
            where="--source-language and --target-language",
            cure="Name two languages, such as en and de.",
        )
    return languages


def detected_languages(pairs: Sequence[Pair], settings: CorpusSettings) -> tuple[str | None, str | None]:
    """Return the language that most texts of each side are in; None for a side whose texts disagree."""
    in_name = _PAIR.search(Path(settings.pairs or "").name)
    named = {code for code in (in_name.groups() if in_name else ()) if code in _codes()}
    detector = Detector(named if len(named) == 2 else detectable_languages())
    return _majority(detector, [pair.source for pair in pairs]), _majority(detector, [pair.target for pair in pairs])


def _majority(detector: Detector, texts: Sequence[str]) -> str | None:
    """Return the language of most groups of texts, if they are sentences and agree."""
    if not _are_sentences(texts):
        return None
    votes: Counter[str] = Counter()
    for begin in range(0, min(len(texts), ENOUGH), TOGETHER):
        if detections := detector.detect("\n".join(texts[begin : begin + TOGETHER])):
            votes[detections[0].language] += 1
    (language, count), *_ = votes.most_common(1) or [("", 0)]
    return language if votes and count >= AGREED * votes.total() else None


def _are_sentences(texts: Sequence[str]) -> bool:
    """Return whether texts have several words on average, or are written without spaces between them."""
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    unspaced = sum(letter >= _UNSPACED for letter in letters)
    return 2 * unspaced > len(letters) or sum(len(text.split()) for text in texts) >= FEWEST_WORDS * len(texts)


def _sides(codes: Sequence[str | None]) -> tuple[tuple[str, str | None], ...]:
    """Return the first two of some codes, each with the name of its side."""
    return ("source", codes[0]), ("target", codes[1])


def _of_files(settings: CorpusSettings) -> tuple[str | None, str | None]:
    """Return the languages that the names of two files end with."""
    return _ending(settings.source or ""), _ending(settings.target or "")


def _ending(path: str) -> str | None:
    """Return the language at the end of a file's name, before the endings of text and of compression."""
    name = Path(path).name
    for suffix in (*SUFFIXES, ".txt"):
        name = name.removesuffix(suffix)
    return _code_of(re.split(r"[._-]", name)[-1])


def _of_columns(settings: CorpusSettings) -> tuple[str | None, str | None]:
    """Return the languages that two columns are named by."""
    columns = settings.source_column, settings.target_column
    header = _header(settings) if settings.header else []
    source, target = (_code_of(_name_of(column, header)) for column in columns)
    return source, target


def _name_of(column: int | str, header: Sequence[str]) -> str:
    """Return the name of a column: its own, or that in the header."""
    if isinstance(column, str) and not column.isdecimal():
        return column
    return "".join(header[int(column) : int(column) + 1])


def _header(settings: CorpusSettings) -> list[str]:
    """Return the first record of a file of pairs."""
    path = text_files(settings.pairs or "", role="pairs")[0]
    lines = islice(read_lines(path, lenient=True), BEGINNING)
    if format_of(path, settings.format) == "csv":
        return next((record for _, record in records(lines, settings.delimiter, str(path))), [])
    return next(lines, "").split("\t")


def _as_code(given: str | None) -> str | None:
    """Return the code that is given, or that of the language whose English name is given."""
    return given and (_code_of(given) or given)


def _code_of(name: str) -> str | None:
    """Return the code that a name is, or the code of the language with that English name."""
    plain = name.strip().lower()
    return plain if plain in _codes() else _codes_by_name().get(plain)


@cache
def _codes() -> frozenset[str]:
    """Return the codes of two letters that languages have."""
    from babel import Locale

    return frozenset(code for code in map(str, Locale("en").languages) if len(code) == 2)


@cache
def _codes_by_name() -> dict[str, str]:
    """Return the codes of two letters by the English names of their languages."""
    from babel import Locale

    return {str(Locale("en").languages[code]).lower(): code for code in _codes()}
