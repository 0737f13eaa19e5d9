"""CSV, as spreadsheets write it: fields in quotes may hold the delimiter, doubled quotes and line breaks.

A line break inside a field becomes a space, since texts are lines everywhere else. An empty row is an empty pair.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.columns import PairColumns, needs_header
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError


def read_csv(lines: Iterator[str], settings: CorpusSettings, path: str) -> Iterator[tuple[int, Pair | None]]:
    """Yield the pair of every record with the number of its first line, from 1; None for one that `keep` leaves out."""
    source, target = settings.source_column, settings.target_column
    header, columns = None, None
    for number, record in records(lines, settings.delimiter, path):
        if columns is None:
            if settings.header or needs_header(source, target, *settings.keep):
                header = record
            columns = PairColumns.find(source, target, settings.keep, header=header, where=f"{path}:1")
            if header is not None:
                continue
        where = f"{path}:{number}"
        if not any(record):
            yield number, Pair("", "")
        else:
            yield number, columns.pair([*map(_one_line, record)], where=where, between="comma-separated")


def records(lines: Iterator[str], delimiter: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of every record with the number of its first line; quotes that do not close are an error."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for record in reader:
            yield begin, record
            begin = reader.line_num + 1
    except csv.Error as error:
        raise ManyheadsError(
            f"this record of a CSV file cannot be read ({error}).",
            where=f"{path}:{begin}",
            cure="A field that begins with a quote must end with one; a quote inside it is doubled.",
        ) from None


def _one_line(field: str) -> str:
    """Return a field with spaces in place of line breaks."""
    return " ".join(field.split("\n")) if "\n" in field else field
