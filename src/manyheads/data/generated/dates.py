"""Dates: however the world writes a day, write it as ISO 8601 does.

`Sunday, November 15, 2026`, `15 novembre 2026` and `2026年11月15日` all become `2026-11-15`. How a date is
written, and which texts are refused because they mean two dates, is the matter of `date_forms`.

The split belongs to the calendar day: a day of test occurs in no locale of training, so a right answer is
reading, not memory. The example above is a day of test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import ClassVar

from manyheads.data.generated.date_forms import LOCALES, forms_of, means_one_date
from manyheads.data.generated.drawing import Split, collect, pick, source_of_chance, split_of
from manyheads.data.generated.options import check_range, option_error
from manyheads.data.text.records import Pair
from manyheads.errors import did_you_mean

# The calendar begins in 1582; and a year from 2443 on, written in Thai without its era, may be a Buddhist one
# of our own time.
_FIRST_YEAR, _LAST_YEAR = 1583, 2399


@dataclass(frozen=True)
class Dates:
    """Read a date from `first_year` to `last_year` as any of the locales (`LOCALES` has all) may write it.

    A text that means two dates is refused even where the chosen locales know one of them only: what a text
    means does not depend on the options.
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
        object.__setattr__(self, "locales", tuple(self.locales))  # a recipe gives a list, which has no hash

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere.

        (With the same Babel, that is: now and then CLDR changes how a locale writes.)
        """
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def writings(self, day: date) -> tuple[str, ...]:
        """Return the different texts that the locales have for the day, without those that mean two dates."""
        texts = dict.fromkeys(form.write(day) for locale in self.locales for form in forms_of(locale))
        return tuple(text for text in texts if means_one_date(text))

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        random = source_of_chance(self.name, split, seed)
        days = _days_of(split, self.first_year, self.last_year)
        forms = [forms_of(locale) for locale in self.locales]
        while True:
            day = pick(random, days)
            text = pick(random, pick(random, forms)).write(day)
            yield Pair(text, day.isoformat()) if means_one_date(text) else None

    def _check_locales(self) -> None:
        if isinstance(self.locales, str) or not isinstance(self.locales, Sequence) or not self.locales:
            what = f"{self.locales!r} is not a list of locales."
            raise option_error(self.name, "locales", what, "Write for example [fr, en_GB].")
        for locale in self.locales:
            if locale not in LOCALES:
                what = f"there is no locale {locale!r}."
                raise option_error(self.name, "locales", what, did_you_mean(str(locale), LOCALES))


def split_of_day(day: date) -> Split:
    """Return the split to which a calendar day belongs in every locale."""
    return split_of(f"day {day.isoformat()}")


@lru_cache(maxsize=16)
def _days_of(split: Split, first_year: int, last_year: int) -> tuple[date, ...]:
    first = date(first_year, 1, 1)
    days = (first + timedelta(number) for number in range((date(last_year + 1, 1, 1) - first).days))
    return tuple(day for day in days if split_of_day(day) == split)
