"""How a date is written in forty locales, and which of these texts are ambiguous.

**Forms.** Unicode's CLDR, used through Babel, has a full, a long, a medium and a short style for each locale. All four
are used, always with the Gregorian calendar and the full year, so `15/11/26` never occurs. Case is that of CLDR.
No-break spaces are replaced by ordinary spaces, and invisible marks of writing direction are removed, so that the texts
are what a person would type. Locales with digits of their own are written in those and in 0–9.

**Ambiguity.** A text that means different dates in different locales is rejected: `05/06/2026` in London and in New
York; `15 listopada 2026`, November in Poland and October in Croatia. People are careless about dots, commas, capitals
and leading zeros, so texts are compared by their `gist`, which ignores these: the Croatian form, `15. listopada 2026.`,
differs from the Polish one only by two dots. A numeric date is therefore written only where day and month cannot be
confused: the year comes first, or the day is above 12, or day and month are equal, or a word decides, as in Bulgarian
`5.11.2026 г.`

**Why this is exact**, although no calendar of 200 years is searched: the year is the only number above 31 in a text, so
two dates with the same gist are of the same year. Apart from the year, a form depends only on month, day and weekday.
These are few enough to write out in every form of every locale, which is done once.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Literal, get_args

LOCALES: tuple[str, ...] = (
    *("ar", "bg", "bn", "cs", "da", "de", "el", "en_GB", "en_US", "es"),
    *("et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "is"),
    *("it", "ja", "ko", "lt", "lv", "nb", "nl", "pl", "pt", "ro"),
    *("ru", "sk", "sr", "sv", "th", "tr", "uk", "vi", "zh", "zh_Hant"),
)

_Style = Literal["full", "long", "medium", "short"]

# Babel always writes 0–9; these are the zeros of the locales that also use other digits.
_NATIVE_ZEROS = {"ar": "٠", "bn": "০", "fa": "۰", "hi": "०", "th": "๐"}

_DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_ODD_SPACES = "\u00a0\u2009\u202f"
_TIDY = str.maketrans(_ODD_SPACES, " " * len(_ODD_SPACES), _DIRECTION_MARKS)

_LEAP_YEAR = 2000  # it has every day that a year can have

# The letters of CLDR's patterns: the field of each, and days on which it has all its values in order.
_FIRST_DAYS = [date(_LEAP_YEAR, month, 1) for month in range(1, 13)]
_JANUARY = [date(_LEAP_YEAR, 1, day) for day in range(1, 32)]
_WEEK = [date(_LEAP_YEAR, 5, day) for day in range(1, 8)]  # this May begins on a Monday
_FIELDS = {
    **dict.fromkeys("ML", ("month", _FIRST_DAYS)),
    **dict.fromkeys("d", ("day", _JANUARY)),
    **dict.fromkeys("Ec", ("weekday", _WEEK)),
}


@dataclass(frozen=True)
class DateForm:
    """One way to write a date: a template, and the locale's words for months, days and weekdays."""

    template: str  # such as '{weekday}, {day} {month} {year}'
    months: tuple[str, ...]
    days: tuple[str, ...]
    weekdays: tuple[str, ...]  # Monday first; empty if the form has no weekday
    zero: str = "0"

    def write(self, day: date) -> str:
        """Return the date in this form."""
        return self.fill(day.year, day.month, day.day, day.weekday())

    def fill(self, year: int, month: int, day: int, weekday: int) -> str:
        """Return the form with these values, which need not be an existing day; Monday is weekday 0."""
        text = self.template.format(
            year=year,
            month=self.months[month - 1],
            day=self.days[day - 1],
            weekday=self.weekdays[weekday] if self.weekdays else "",
        )
        return text if self.zero == "0" else text.translate(_digits_from(self.zero))


@cache
def forms_of(locale: str) -> tuple[DateForm, ...]:
    """Return the distinct forms of a date in a locale."""
    forms = list(dict.fromkeys(_form(locale, style) for style in get_args(_Style)))
    if locale in _NATIVE_ZEROS:
        forms += [replace(form, zero=_NATIVE_ZEROS[locale]) for form in forms]
    return tuple(forms)


def means_one_date(text: str) -> bool:
    """Return whether a text that was written by one of the forms means the same day in all locales."""
    return gist(text) not in _ambiguous_gists()


def gist(text: str) -> str:
    """Return a text as a careless reader sees it: words without case, numbers, and no punctuation.

    Any number too large for a day or a month is the year and becomes `year`, so texts that differ only in the year have
    the same gist.
    """
    pieces = _NUMBER_OR_WORD.findall(text.casefold().translate(_CARELESS))
    return " ".join(map(_gist_of_piece, pieces))


@cache
def _gist_of_piece(piece: str) -> str:
    """Return the gist of one word or number."""
    if not piece.isdecimal():
        return piece
    return "year" if int(piece) > 31 else str(int(piece))


class _CarelessReading(dict[int, str]):
    """A table for `str.translate` that keeps words and digits; the entry of a character is computed on first use."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Nd":
            kept = str(unicodedata.decimal(character))  # a native digit becomes one of 0–9
        elif category == "Cf":
            kept = ""  # invisible, such as the joiners of Persian
        else:
            kept = character if category[0] in "LMN" else " "
        self[code] = kept
        return kept


_CARELESS = _CarelessReading()
_NUMBER_OR_WORD = re.compile(r"[0-9]+|[^0-9 ]+")


def gists_of(form: DateForm) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield every possible gist of a form, with its month and day: all days of a year on all weekdays."""
    blank = "ʘ"  # a letter that no locale uses; replacing it by seven words is faster than computing seven gists
    without_weekday = replace(form, weekdays=(blank,) if form.weekdays else ())
    weekdays = [gist(weekday) for weekday in form.weekdays] or [blank]
    for month in range(1, 13):
        for day in range(1, monthrange(_LEAP_YEAR, month)[1] + 1):
            text = gist(without_weekday.fill(_LEAP_YEAR, month, day, 0))
            for weekday in weekdays:
                yield text.replace(blank, weekday), (month, day)


@cache
def _ambiguous_gists() -> frozenset[str]:
    """Return the gists that several days of a year have, in the same locale or in different ones."""
    forms = dict.fromkeys(form for locale in LOCALES for form in forms_of(locale))
    first: dict[str, tuple[int, int]] = {}
    return frozenset(
        text
        for form in forms
        if form.zero == "0"  # forms in other digits have the same gists
        for text, day in gists_of(form)
        if first.setdefault(text, day) != day
    )


@cache
def _digits_from(zero: str) -> dict[int, int]:
    """Return the table for `str.translate` from 0–9 to the digits that begin with `zero`."""
    return {ord("0") + digit: ord(zero) + digit for digit in range(10)}


def _form(locale: str, style: _Style) -> DateForm:
    """Return CLDR's form of a style in a locale."""
    # Imported here, because Babel is slow to import, and only this task needs it.
    from babel.dates import get_date_format, parse_pattern

    words: dict[str, tuple[str, ...]] = {}

    def placeholder(match: re.Match[str]) -> str:
        """Return the placeholder for a field of the pattern, and record the words of the field."""
        field = match[1]
        if field[0] == "y":
            return "{year}"  # in full, even if the style would shorten it to two digits
        if field[0] == "G":
            return _words(field, locale, _WEEK)[0]  # the era, which is the same for all our years
        name, days = _FIELDS[field[0]]
        words[name] = _words(field, locale, days)
        return f"{{{name}}}"

    # A pattern looks like '%(EEEE)s, %(d)s %(MMMM)s %(y)s'.
    pattern = str(parse_pattern(get_date_format(style, locale=locale)).format)

    template = re.sub(r"%\((\w+)\)s", placeholder, pattern).translate(_TIDY)
    return DateForm(template, words["month"], words["day"], words.get("weekday", ()))


def _words(field: str, locale: str, days: list[date]) -> tuple[str, ...]:
    """Return the text of one field of a CLDR pattern for each of the days."""
    from babel.dates import format_date

    return tuple(format_date(day, field, locale=locale).translate(_TIDY) for day in days)
