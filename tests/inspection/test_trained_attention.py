"""What trained models look at: each part of a date at its place in three languages, each symbol at its source."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from babel.dates import format_date

from manyheads.data.generated.dates import split_of_day
from manyheads.inspection.alignment import align
from manyheads.inspection.inspector import Inspector

WRITTEN = {"year": slice(1, 5), "month": slice(6, 8), "day": slice(9, 11)}  # of the tokens ▁ 2 0 2 6 - 1 1 - 1 5 </s>
PATTERNS = {
    "fr": [("day", "d"), (None, " "), ("month", "MMMM"), (None, " "), ("year", "y")],
    "en_US": [("month", "MMMM"), (None, " "), ("day", "d"), (None, ", "), ("year", "y")],
    "zh": [("year", "y"), (None, "年"), ("month", "M"), (None, "月"), ("day", "d"), (None, "日")],
}


def days(count: int = 25) -> list[date]:
    """Return days that training never saw, with two digits each, spread over the years."""
    every = (date(1985, 1, 10) + timedelta(days=number) for number in range(18_000))
    unseen = [day for day in every if day.day >= 10 and split_of_day(day) == "test"]
    return unseen[:: len(unseen) // count][:count]


def written(day: date, locale: str) -> tuple[str, dict[str, slice]]:
    """Return a day as a locale writes it, and where its parts stand among the tokens, of which the first is ▁."""
    text, places = "", {}
    for part, pattern in PATTERNS[locale]:
        piece = pattern if part is None else format_date(day, pattern, locale=locale)
        if part is not None:
            places[part] = slice(len(text) + 1, len(text) + 1 + len(piece))
        text += piece
    return text, places


def masses(inspector: Inspector, locale: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each day that is read rightly how much each part written looks at each part read [3, 3].

    With it comes how much that would be if all source tokens were looked at alike [3].
    """
    for day in days():
        text, places = written(day, locale)
        seen = inspector.everything(text)
        if seen.translation == day.isoformat():
            weights = align(seen).weights
            mass = [[weights[rows, places[part]].sum(axis=1).mean() for part in WRITTEN] for rows in WRITTEN.values()]
            uniform = [(places[part].stop - places[part].start) / len(seen.source_tokens) for part in WRITTEN]
            yield np.array(mass), np.array(uniform)


@pytest.fixture(scope="module")
def inspector(dates_run: Path) -> Inspector:
    return Inspector(dates_run, device="cpu")


@pytest.mark.parametrize("locale", PATTERNS)
def test_year_month_and_day_look_at_their_places(inspector, locale):
    found = list(masses(inspector, locale))
    assert len(found) >= 5, "the model has not learned to read dates"
    mass, uniform = (np.mean(one, axis=0) for one in zip(*found, strict=True))
    own = np.diag(mass)
    assert (mass.argmax(axis=1) == np.arange(3)).all(), mass  # each looks at its own place more than at another
    assert (own > 1.5 * uniform).all(), (own, uniform)
    assert (own / uniform).mean() > 2.5, (own, uniform)


def test_what_is_reversed_looks_at_the_mirrored_place(reverse_run: Path):
    inspector = Inspector(reverse_run, device="cpu")
    text = "a b c d e f"
    seen = inspector.everything(text)
    assert seen.translation == text[::-1]
    length = len(text.split())
    best = np.max(seen.attention["cross"][-1], axis=0)[:length, :length].argmax(axis=1)  # of whichever head is surest
    assert (best == np.arange(length)[::-1]).mean() >= 0.5
