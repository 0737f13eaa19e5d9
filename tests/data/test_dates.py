"""Dates are written as Babel writes them, and no text that is generated means two dates."""

import re
import unicodedata
from collections import defaultdict
from datetime import date, timedelta

import pytest
from babel.dates import format_date, get_date_format
from hypothesis import given, settings
from hypothesis import strategies as st

from manyheads.data.generated import Dates, task
from manyheads.data.generated.date_forms import LOCALES, forms_of, gist, gists_of, means_one_date
from manyheads.data.generated.dates import split_of_day

DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
FIRST_USE_IS_SLOW = settings(deadline=None)  # the locales are read then
BABEL_IS_SLOW = settings(deadline=None, max_examples=25)
YEARS = (2024, 2026)  # a leap year and a common one, which begin on different days of the week


def days_of(year):
    first = date(year, 1, 1)
    return [first + timedelta(number) for number in range((date(year + 1, 1, 1) - first).days)]


def tidy(text):
    visible = (character for character in text if unicodedata.category(character) != "Cf" or character == "\u200c")
    return "".join(" " if unicodedata.category(character) == "Zs" else character for character in visible)


def in_latin_digits(text):
    return all(character.isascii() for character in text if character.isdecimal())


@pytest.fixture(scope="module")
def all_texts():
    """Return, for some years, (text, day, locale) for every day in every form of every locale."""
    return [
        (form.write(day), day, locale)
        for locale in LOCALES
        for form in forms_of(locale)
        for year in YEARS
        for day in days_of(year)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "15 novembre 2026",
        "2026年11月15日",
        "Sunday, November 15, 2026",
        "11/15/2026",
        "15/11/2026",
        "2026/11/15",
        "١٥ نوفمبر ٢٠٢٦",
        "রবিবার, ১৫ নভেম্বর, ২০২৬",
        "niedziela, 15 listopada 2026",
    ],
)
def test_well_known_ways_to_write_a_day(text):
    assert text in Dates().spellings(date(2026, 11, 15))


def test_the_example_of_the_documentation_is_held_out():
    assert split_of_day(date(2026, 11, 15)) == "test"


def test_no_generated_text_means_two_dates_and_none_is_refused_without_need(all_texts):
    """The heart of the task, by exhaustion: what is refused is exactly what has two meanings."""
    days_of_text, days_of_gist = defaultdict(set), defaultdict(set)
    for text, day, _ in all_texts:
        days_of_text[text].add(day)
    for text, days in days_of_text.items():
        for day in days:
            days_of_gist[day.year, gist(text)].add(day)
    for text, days in days_of_text.items():
        meanings = days_of_gist[min(days).year, gist(text)]
        assert days <= meanings
        assert means_one_date(text) == (len(meanings) == 1), text


def test_the_year_is_the_one_large_number_in_a_text(all_texts):
    """That is why texts of different years never mean one date, and why to check single years is enough."""
    for text, day, _ in all_texts:
        assert [int(number) for number in re.findall(r"\d+", text) if int(number) > 31] == [day.year], text


def test_the_gist_of_every_text_is_foreseen():
    for locale in LOCALES:
        for form in forms_of(locale):
            foreseen = set(gists_of(form))
            days = days_of(YEARS[0])[::5]  # five is no divisor of seven, so all weekdays come
            assert {(gist(form.write(day)), (day.month, day.day)) for day in days} <= foreseen


def test_every_locale_can_write_every_day(all_texts):
    written = {(locale, day) for text, day, locale in all_texts if day.year == YEARS[0] and means_one_date(text)}
    assert written == {(locale, day) for locale in LOCALES for day in days_of(YEARS[0])}


def test_texts_have_no_invisible_marks_and_only_ordinary_spaces(all_texts):
    characters = set().union(*(text for text, _, _ in all_texts))
    assert all(tidy(character) == character for character in characters)


def test_months_that_share_a_name_are_refused():
    """Listopad is November in Poland and October in Croatia; lipiec and lipanj are July and June."""
    refused = {gist(text) for text in ("15. listopada 2026", "15 lis 2026", "15 lip 2026")}
    for day in (date(2026, month, 15) for month in range(1, 13)):
        assert not refused & {gist(text) for text in Dates().spellings(day)}


@FIRST_USE_IS_SLOW
@given(day=DAYS)
def test_numbers_alone_are_written_only_where_day_and_month_cannot_be_confused(day):
    for text in Dates().spellings(day):
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        if any(character.isalpha() for character in text) or numbers[0] == day.year:
            continue
        assert day.day > 12 or day.day == day.month, text


@BABEL_IS_SLOW
@given(day=DAYS)
def test_forms_are_those_of_babel(day):
    for locale in LOCALES:
        short = re.sub("y+", "y", get_date_format("short", locale=locale).pattern)
        expected = {tidy(format_date(day, style, locale=locale)) for style in ("full", "long", "medium", short)}
        texts = {form.write(day) for form in forms_of(locale)}
        assert {text for text in texts if in_latin_digits(text)} == expected


@FIRST_USE_IS_SLOW
@given(day=DAYS)
def test_native_digits_say_the_same(day):
    for locale in ("ar", "bn", "fa", "hi", "th"):
        texts = {form.write(day) for form in forms_of(locale)}
        latin = {text for text in texts if in_latin_digits(text)}
        native = texts - latin
        assert len(native) == len(latin)
        assert {gist(text) for text in native} == {gist(text) for text in latin}


@FIRST_USE_IS_SLOW
@given(day=DAYS)
def test_the_gist_ignores_what_a_careless_reader_ignores(day):
    for locale in LOCALES:
        for form in forms_of(locale):
            text = form.write(day)
            careless = text.lower().replace(",", " ").replace(".", " ").replace("/", "-")
            assert gist(careless) == gist(text)
    assert gist(f"{day:%d.%m.%Y}") == gist(f"{day.day}/{day.month}/{day.year}")


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_pairs_are_right_and_of_their_split(split):
    for source, target in Dates().pairs(split, count=500):
        day = date.fromisoformat(target)
        assert split_of_day(day) == split
        assert 1900 <= day.year <= 2099
        assert means_one_date(source)
        assert any(source == form.write(day) for locale in LOCALES for form in forms_of(locale))


def test_pairs_come_from_every_locale():
    targets = defaultdict(set)
    for source, target in Dates().pairs("train", count=1000):
        targets[target].add(source)
    used = {
        locale
        for target, sources in targets.items()
        for locale in LOCALES
        if sources & {form.write(date.fromisoformat(target)) for form in forms_of(locale)}
    }
    assert used == set(LOCALES)


@FIRST_USE_IS_SLOW
@given(
    locales=st.lists(st.sampled_from(LOCALES), min_size=1, max_size=3),
    first_year=st.integers(min_value=1583, max_value=2390),
    seed=st.integers(min_value=0),
)
def test_options_are_kept(locales, first_year, seed):
    dates = task("dates", locales=locales, first_year=first_year, last_year=first_year + 9)
    for source, target in dates.pairs("train", count=5, seed=seed):
        day = date.fromisoformat(target)
        assert first_year <= day.year <= first_year + 9
        assert source in Dates(locales=locales).spellings(day)
