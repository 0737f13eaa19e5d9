"""A column of a CSV: each field of it is a segment, whose translation goes into another column or takes its place.

Columns are chosen by the name that the first record gives them, or by their number from 0. A field may be in quotes and
then hold delimiters, line breaks and doubled quotes. All other fields stay as they are, quotes included; a new one is
quoted where the field in its place was, or where it must be. Without a delimiter given, it is the one of comma,
semicolon and tab that the first record has most of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from manyheads.documents.interface import Segment, Styled
from manyheads.documents.slots import Slot, SlotDocument, limited
from manyheads.errors import ManyheadsError, did_you_mean

DELIMITERS = ",;\t"
MOST_COLUMNS = 10_000
MOST_NAMES, LONGEST_NAME = 30, 40  # of columns, in a message
LONGEST_HEADER = 1 << 16  # characters in which the delimiter is looked for

_QUOTED = re.compile(r'"((?:[^"]++|"")*+)"')
_BLANK_LINES = re.compile(r"[\r\n]+")
_LINE_END = re.compile(r"\r\n|\r|\n")


class _Field(NamedTuple):
    """A field: its text, its place with its quotes, and whether it has them."""

    text: str
    start: int
    end: int
    is_quoted: bool


class _Record(NamedTuple):
    """A record: the line on which it begins, and its fields."""

    line: int
    fields: Sequence[_Field]


def read_csv_column(
    text: str, *, language: str | None, column: str, into: str | None = None, delimiter: str | None = None
) -> SlotDocument:
    """Return one column of a CSV as a document.

    Args:
        text: The CSV.
        language: The language of the translations.
        column: The column to translate, by name or by number.
        into: The column for the translations; the same one if None.
        delimiter: What separates fields; None finds it.
    """
    delimiter = delimiter or _found_delimiter(text)
    slots = _slots(_records(text, delimiter), column, column if into is None else into, delimiter)
    return SlotDocument(text, limited(slots), (None, language))


def _slots(records: Iterator[_Record], column: str, into: str, delimiter: str) -> Iterator[Slot]:
    """Yield a slot for each record that has a text in the column; records without any text may have fewer fields."""
    filled = (record for record in records if any(field.text for field in record.fields))
    if (first := next(filled, None)) is None:
        return
    names = [field.text.strip() for field in first.fields]
    source, target = _number(column, names, first.line), _number(into, names, first.line)
    for record in filled if {column, into} & {*names} else chain([first], filled):
        if len(record.fields) <= max(source, target):
            raise _refusal(
                f"this record has {len(record.fields)} fields, and column {max(source, target)} (from 0) is needed",
                record.line,
                "Add what is missing, or name another delimiter.",
            )
        if record.fields[source].text.strip():
            yield _slot(record, source, target, delimiter)


def _number(column: str, names: Sequence[str], line: int) -> int:
    """Return the number of a column, which may be given by the name that the first record has for it."""
    if column in names:
        return names.index(column)
    if column.isdecimal():
        return int(column)
    shown = [name[:LONGEST_NAME] for name in names[:MOST_NAMES]]
    raise _refusal(f"there is no column '{column}'", line, did_you_mean(column, shown))


def _slot(record: _Record, source: int, target: int, delimiter: str) -> Slot:
    """Return the slot of a record."""
    text, place = Styled(record.fields[source].text), record.fields[target]
    there = Styled(place.text) if place.text.strip() else None
    segment = Segment(text, None if source == target else there, line=record.line)

    def written(translation: Styled) -> str:
        """Return a translation as a field."""
        needs_quotes = any(character in translation.text for character in f'"\r\n{delimiter}')
        quoted = translation.text.replace('"', '""')
        return f'"{quoted}"' if place.is_quoted or needs_quotes else translation.text

    return Slot(segment, place.start, place.end, there, written)


def _found_delimiter(text: str) -> str:
    """Return the delimiter that the first record has most of, quoted fields left out; a comma if it has none."""
    beginning = _QUOTED.sub("", text[:LONGEST_HEADER].removeprefix("\ufeff")).lstrip("\r\n")
    first = _LINE_END.split(beginning, maxsplit=1)[0]
    return max(DELIMITERS, key=first.count)


def _records(text: str, delimiter: str) -> Iterator[_Record]:
    """Yield the records of a CSV."""
    bare = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    at, line = len(text) - len(text.removeprefix("\ufeff")), 1
    while at < len(text):
        begin, fields = at, [_field(text, at, bare, line)]
        while text.startswith(delimiter, fields[-1].end):
            fields.append(_field(text, fields[-1].end + 1, bare, line))
            if len(fields) > MOST_COLUMNS:
                raise _refusal(f"this record has more than {MOST_COLUMNS:,} fields", line, "Name another delimiter.")
        at = fields[-1].end
        if ends := _BLANK_LINES.match(text, at):
            at = ends.end()
        elif at < len(text):
            raise _unclosed(line)
        yield _Record(line, fields)
        line += len(_LINE_END.findall(text, begin, at))


def _field(text: str, at: int, bare: re.Pattern[str], line: int) -> _Field:
    """Return the field that begins at a place."""
    if quoted := _QUOTED.match(text, at):
        return _Field(quoted[1].replace('""', '"'), at, quoted.end(), is_quoted=True)
    if text.startswith('"', at):
        raise _unclosed(line)
    found = bare.match(text, at)
    assert found is not None  # it may be empty
    return _Field(found[0], at, found.end(), is_quoted=False)


def _unclosed(line: int) -> ManyheadsError:
    """Return the error for quotes that do not close where a field ends."""
    return _refusal(
        "the quotes of this record do not close",
        line,
        "A field that begins with a quote must end with one; a quote inside it is doubled.",
    )


def _refusal(problem: str, line: int, cure: str) -> ManyheadsError:
    """Return the error for a CSV that is refused."""
    return ManyheadsError(f"{problem}.", where=f"line {line}", cure=cure)
