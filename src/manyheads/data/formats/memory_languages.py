"""Which languages of a memory are learned from and into: as asked for, as far as the memory leaves a choice.

What is not asked for is found. A memory says what was translated from; where a direction that it says fits, others
are not considered. Languages that are found stand for all their regional forms: `de` for de-DE and de-AT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations
from pathlib import Path

from manyheads.data.formats.memories import memory_files, read_memory
from manyheads.data.formats.memory_units import (
    MESSAGES,
    UNKNOWN_LANGUAGE,
    Direction,
    MemoryUnit,
    is_form_of,
    plain_code,
)
from manyheads.errors import ManyheadsError

BEGINNING = 1000  # units of each file in which a direction is looked for first
OF_MESSAGES = "en"  # the language of a catalogue's messages, unless it is asked for: the convention of gettext
SHOWN = 12  # languages that a sentence lists


def find_direction(path: str, *, source: str | None, target: str | None) -> Direction:
    """Return the direction of a memory that fits what is asked for; an error if there are several, or none."""
    if source is not None and target is not None:
        return Direction(source, target)
    files = memory_files(path)
    directions = _Directions(source, target)
    for most in (BEGINNING, None):
        directions.add(_units(files, most))
        if found := directions.fitting():
            break
    if len(found) == 1:
        return found[0]
    if found:
        raise _undecided(path, found, target=target)
    raise _without(path, directions.there, source=source, target=target)


class _Directions:
    """The directions of some units: those that the memory says were translated, and all that there are."""

    def __init__(self, source: str | None, target: str | None) -> None:
        self._source, self._target = source, target
        self.there: dict[Direction, None] = {}
        self._said: dict[Direction, None] = {}

    def add(self, units: Iterable[MemoryUnit]) -> None:
        """Add the directions of units."""
        messages = self._source or OF_MESSAGES
        for unit in units:
            named = [language for language, text in unit.texts if text.strip() and language != UNKNOWN_LANGUAGE]
            languages = [self._name(language or messages) for language in named]
            source = self._name(unit.source or (messages if MESSAGES in dict(unit.texts) else ""))
            for pair in permutations(dict.fromkeys(languages), 2):
                self.there[Direction(*pair)] = None
                if pair[0] == source:
                    self._said[Direction(*pair)] = None

    def fitting(self) -> list[Direction]:
        """Return the directions that fit what is asked for, of those that the memory says if there are any."""
        return self._fitting(self._said) or self._fitting(self.there)

    def _fitting(self, directions: Iterable[Direction]) -> list[Direction]:
        """Return the directions that fit what is asked for."""
        asked = self._source, self._target
        return [one for one in directions if all(want in (None, code) for want, code in zip(asked, one, strict=True))]

    def _name(self, language: str) -> str:
        """Return the language that is asked for and has this form, or the language without its region."""
        asked = [one for one in (self._source, self._target) if one is not None and is_form_of(language, one)]
        return asked[0] if asked else plain_code(language).split("-")[0]


def _units(files: Sequence[Path], most: int | None) -> Iterator[MemoryUnit]:
    """Yield the first units of each file."""
    for file in files:
        yield from islice(read_memory(file), most)


def _undecided(path: str, fitting: Sequence[Direction], *, target: str | None) -> ManyheadsError:
    """Return the error for a memory with several directions that fit."""
    return ManyheadsError(
        f"which {'source' if target else 'target'} language? There is {_listed(fitting)}.",
        where=path,
        cure="Name both: --source-language en --to fr (in a recipe, source_column: en and target_column: fr).",
    )


def _without(path: str, there: Iterable[Direction], *, source: str | None, target: str | None) -> ManyheadsError:
    """Return the error for a memory with no direction that fits."""
    asked = f"{f' from {source}' if source else ''}{f' into {target}' if target else ''}"
    listed = _listed(sorted(there))
    facts = f"there is {listed}" if listed else "no text is in two languages that are named"
    return ManyheadsError(f"there is no translation{asked}: {facts}.", where=path)


def _listed(directions: Sequence[Direction]) -> str:
    """Return directions as a sentence lists them."""
    more = f" and {len(directions) - SHOWN:,} others" if len(directions) > SHOWN else ""
    return ", ".join(f"{one.source} → {one.target}" for one in directions[:SHOWN]) + more
