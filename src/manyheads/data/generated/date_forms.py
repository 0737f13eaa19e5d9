"""How a date is written in forty locales, and whether what is written can be misunderstood.

**Forms.** Unicode's CLDR, by way of Babel, gives each locale a full, a long, a medium and a short style.
All four are used, always in the Gregorian calendar and always with the year in full, so `15/11/26` is never
written. Case is as CLDR has it. No-break spaces become ordinary spaces and the invisible marks of writing
direction go, so that what a person types is what was learned. Locales with digits of their own are written
in those and in 0–9.

**Meaning.** A text is refused when it means two dates, whoever reads it: `05/06/2026` in London and in New
York; `15 listopada 2026`, November in Poland and October in Croatia. People are careless of dots, commas,
capitals and leading zeros, so what counts is the `gist` of a text, which ignores them: what Croatia writes,
`15. listopada 2026.`, has but two dots more than what Poland does. A date in numbers is thereby written only
where day and month cannot be confused: the year comes first, or the day is above 12, or day and month are the
same number, or a word settles it, as in Bulgarian `5.11.2026 г.`

**Why this is exact** though no calendar of 200 years is searched: the year is the one number above 31 in a
text, so two dates of one gist are of the same year; and apart from the year, a form depends on month, day and
day of the week alone. Those are few enough to write out in every form of every locale, which is done once.
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

# Babel writes 0–9 for all; these are the zeros of the locales whose readers know other digits too.
_NATIVE_ZEROS = {"ar": "٠", "bn": "০", "fa": "۰", "hi": "०", "th": "๐"}

_DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_ODD_SPACES = "\u00a0\u2009\u202f"
_TIDY = str.maketrans(_ODD_SPACES, " " * len(_ODD_SPACES), _DIRECTION_MARKS)

_LEAP_YEAR = 2000  # it has every day a year can have

# The letters of CLDR's patterns: what each stands for, and days on which it takes all its values in order.
_FIRST_DAYS = [date(_LEAP_YEAR, month, 1) for month in range(1, 13)]
_JANUARY = [date(_LEAP_YEAR, 1, day) for day in range(1, 32)]
_WEEK = [date(_LEAP_YEAR, 5, day) for day in range(1, 8)]  # this May begins with a Monday
_FIELDS = {
    **dict.fromkeys("ML", ("month", _FIRST_DAYS)),
    **dict.fromkeys("d", ("day", _JANUARY)),
    **dict.fromkeys("Ec", ("weekday", _WEEK)),
}


@dataclass(frozen=True)
class DateForm:
    """One way to write a date: a template and the words a locale has for months, days and weekdays."""

    template: str  # such as '{weekday}, {day} {month} {year}'
    months: tuple[str, ...]
    days: tuple[str, ...]
    weekdays: tuple[str, ...]  # Monday first; empty where the form names no weekday
    zero: str = "0"

    def write(self, day: date) -> str:
        """Return the date in this form."""
        return self.fill(day.year, day.month, day.day, day.weekday())

    def fill(self, year: int, month: int, day: int, weekday: int) -> str:
        """Return the form with these numbers, which need not be a day that ever was; Monday is weekday 0."""
        text = self.template.format(
            year=year,
            month=self.months[month - 1],
            day=self.days[day - 1],
            weekday=self.weekdays[weekday] if self.weekdays else "",
        )
        return text if self.zero == "0" else text.translate(_digits_from(self.zero))


@cache
def forms_of(locale: str) -> tuple[DateForm, ...]:
    """Return the different ways in which the locale writes a date."""
    forms = list(dict.fromkeys(_form(locale, style) for style in get_args(_Style)))
    if locale in _NATIVE_ZEROS:
        forms += [replace(form, zero=_NATIVE_ZEROS[locale]) for form in forms]
    return tuple(forms)


def means_one_date(text: str) -> bool:
    """Return whether a text that some form has for a day can be read as that day only."""
    return gist(text) not in _ambiguous_gists()


def gist(text: str) -> str:
    """Return what is left of a text for a careless reader: words without case, numbers, and no punctuation.

    Any number too large for a day or a month is the year and stands as `year`, so texts of different years
    which otherwise agree have one gist.
    """
    pieces = _NUMBER_OR_WORD.findall(text.casefold().translate(_CARELESS))
    return " ".join(map(_gist_of_piece, pieces))


@cache
def _gist_of_piece(piece: str) -> str:
    if not piece.isdecimal():
        return piece
    return "year" if int(piece) > 31 else str(int(piece))


class _CarelessReading(dict[int, str]):
    """The table for `str.translate` that keeps words and digits; a character is looked up when first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Nd":
            kept = str(unicodedata.decimal(character))  # a native digit is that digit
        elif category == "Cf":
            kept = ""  # invisible, such as the joiners of Persian
        else:
            kept = character if category[0] in "LMN" else " "
        self[code] = kept
        return kept


_CARELESS = _CarelessReading()
_NUMBER_OR_WORD = re.compile(r"[0-9]+|[^0-9 ]+")


def gists_of(form: DateForm) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each gist the form can have, with its month and day: all days of a year, on all weekdays."""
    blank = "ʘ"  # a letter that no locale uses; to put seven words in its place is quicker than seven gists
    outline = replace(form, weekdays=(blank,) if form.weekdays else ())
    weekdays = [gist(weekday) for weekday in form.weekdays] or [blank]
    for month in range(1, 13):
        for day in range(1, monthrange(_LEAP_YEAR, month)[1] + 1):
            text = gist(outline.fill(_LEAP_YEAR, month, day, 0))
            for weekday in weekdays:
                yield text.replace(blank, weekday), (month, day)


@cache
def _ambiguous_gists() -> frozenset[str]:
    """Return the gists that several days of a year have, if need be in different locales."""
    forms = dict.fromkeys(form for locale in LOCALES for form in forms_of(locale))
    first: dict[str, tuple[int, int]] = {}
    return frozenset(
        text
        for form in forms
        if form.zero == "0"  # in other digits the gists are the same
        for text, day in gists_of(form)
        if first.setdefault(text, day) != day
    )


@cache
def _digits_from(zero: str) -> dict[int, int]:
    return {ord("0") + digit: ord(zero) + digit for digit in range(10)}


def _form(locale: str, style: _Style) -> DateForm:
    # Babel takes a while to import, and only a run that writes dates should wait for it.
    from babel.dates import get_date_format, parse_pattern

    words: dict[str, tuple[str, ...]] = {}

    def placeholder(match: re.Match[str]) -> str:
        """Return the name of the field that a letter of the pattern stands for, and note its words."""
        field = match[1]
        if field[0] == "y":
            return "{year}"  # in full, also where the style would shorten it to two digits
        if field[0] == "G":
            return _words(field, locale, _WEEK)[0]  # the era, which for all our years is the same
        name, days = _FIELDS[field[0]]
        words[name] = _words(field, locale, days)
        return f"{{{name}}}"

    # The pattern reads like '%(EEEE)s, %(d)s %(MMMM)s %(y)s'.
    pattern = str(parse_pattern(get_date_format(style, locale=locale)).format)

    template = re.sub(r"%\((\w+)\)s", placeholder, pattern).translate(_TIDY)
    return DateForm(template, words["month"], words["day"], words.get("weekday", ()))


def _words(field: str, locale: str, days: list[date]) -> tuple[str, ...]:
    """Return what one field of a CLDR pattern becomes for each of the days."""
    from babel.dates import format_date

    return tuple(format_date(day, field, locale=locale).translate(_TIDY) for day in days)
