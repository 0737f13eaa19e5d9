"""Dates in many languages, rewritten in ISO 8601.

`Sunday, November 15, 2026`, `15 novembre 2026` and `2026年11月15日` all become `2026-11-15`. `date_forms` has the forms
of each locale, and the ambiguous texts that are rejected.

The split is by calendar day: a day of the test split occurs in no locale of the training split, so the model cannot
memorise its answer. The day above is in the test split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import ClassVar

from manyheads.data.generated.date_forms import LOCALES, forms_of, means_one_date
from manyheads.data.generated.options import check_range, option_error
from manyheads.data.generated.random_examples import Split, collect, pick, seeded_random, split_of
from manyheads.data.text.records import Pair
from manyheads.errors import did_you_mean

# The Gregorian calendar begins in 1582; and a year from 2443 on, written in Thai without its era, could be a Buddhist
# year of our own time.
_FIRST_YEAR, _LAST_YEAR = 1583, 2399


@dataclass(frozen=True)
class Dates:
    """Read a date from `first_year` to `last_year`, as written in any of the locales (`LOCALES` has all of them).

    A text that is ambiguous over all locales is rejected, even if it is not ambiguous over the chosen ones: the meaning
    of a text does not depend on the options.
    """

    name: ClassVar[str] = "dates"
    locales: Sequence[str] = LOCALES
    first_year: int = 1900
    last_year: int = 2099

    def __post_init__(self) -> None:
        check_range(
            self.name,
            least=("first_year", self.first_year),
            most=("last_year", self.last_year),
            low=_FIRST_YEAR,
            high=_LAST_YEAR,
        )
        self._check_locales()
        object.__setattr__(self, "locales", tuple(self.locales))  # a recipe has a list, which is not hashable

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere.

        This holds for one version of Babel: CLDR occasionally changes the form of a locale.
        """
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def spellings(self, day: date) -> tuple[str, ...]:
        """Return the distinct texts of the locales for a day, without ambiguous ones."""
        texts = dict.fromkeys(form.write(day) for locale in self.locales for form in forms_of(locale))
        return tuple(text for text in texts if means_one_date(text))

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        """Yield random pairs without end; None for an ambiguous text."""
        random = seeded_random(self.name, split, seed)
        days = _days_of(split, self.first_year, self.last_year)
        forms = [forms_of(locale) for locale in self.locales]
        while True:
            day = pick(random, days)
            text = pick(random, pick(random, forms)).write(day)
            yield Pair(text, day.isoformat()) if means_one_date(text) else None

    def _check_locales(self) -> None:
        """Raise an error for unknown locales."""
        if isinstance(self.locales, str) or not isinstance(self.locales, Sequence) or not self.locales:
            what = f"{self.locales!r} is not a list of locales."
            raise option_error(self.name, "locales", what, "Write for example [fr, en_GB].")
        for locale in self.locales:
            if locale not in LOCALES:
                what = f"there is no locale {locale!r}."
                raise option_error(self.name, "locales", what, did_you_mean(str(locale), LOCALES))


def split_of_day(day: date) -> Split:
    """Return the split of a calendar day, in all locales."""
    return split_of(f"day {day.isoformat()}")


@lru_cache(maxsize=16)
def _days_of(split: Split, first_year: int, last_year: int) -> tuple[date, ...]:
    """Return the days of a split, in order."""
    first = date(first_year, 1, 1)
    days = (first + timedelta(number) for number in range((date(last_year + 1, 1, 1) - first).days))
    return tuple(day for day in days if split_of_day(day) == split)
