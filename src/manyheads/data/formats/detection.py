"""What a file of pairs looks like, found out from its beginning: SCAN, delimiter, header; of memories, the languages.

A recipe states them, so that it always means the same; they are detected only where a recipe is chosen for files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from manyheads.config.tasks.memory_questions import ARCHIVES
from manyheads.data.formats.memories import FORMAT, are_memories
from manyheads.data.formats.memory_languages import find_direction
from manyheads.data.formats.scan import FORMAT as SCAN
from manyheads.data.formats.scan import is_scan
from manyheads.data.formats.spreadsheet import records
from manyheads.data.text.files import read_lines, text_files
from manyheads.errors import ManyheadsError

BEGINNING = 50  # lines that are looked at
DELIMITERS = (",", ";", "\t")  # spreadsheets write a semicolon where the comma is the decimal point
# Names that columns of pairs have. A first line in which every chosen column has one of them is a header.
_WORDS = (
    "source target src tgt trg text translation original input output sentence sentence1 sentence2 word spelling "
    "pronunciation phonemes graphemes question answer en de fr es it pt nl pl cs ru uk ja zh ko ar tr sv da no fi "
    "hu ro el he hi english german french spanish italian portuguese dutch polish czech russian ukrainian japanese "
    "chinese korean arabic turkish swedish danish norwegian finnish hungarian romanian greek hebrew hindi"
)
NAMES = frozenset(_WORDS.split())


def format_of(path: Path, chosen: str = "auto") -> str:
    """Return the format of a file of pairs, as chosen or by its name: csv, jsonl or tsv."""
    if chosen != "auto":
        return chosen
    return next((name for name in ("jsonl", "csv") if f".{name}" in path.suffixes), "tsv")


def with_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a corpus with format, delimiter and header as they are detected in its file of pairs.

    Of memories, the languages of both sides are found that are not given as columns.
    """
    if not values.get("pairs"):
        return dict(values)
    if are_memories(str(values["pairs"]), values.get("format") or "auto"):
        return _with_direction(values)
    kind = format_of(Path(str(values["pairs"])), values.get("format") or "auto")
    if kind not in ("tsv", "csv"):  # an unknown format is refused with the other keys
        return dict(values)
    if str(values["pairs"]).endswith(ARCHIVES):  # the archive of bAbI
        return dict(values)
    path = text_files(str(values["pairs"]), role="pairs")[0]
    lines = list(islice(read_lines(path, lenient=True), BEGINNING))
    if kind == "tsv" and values.get("format") != "tsv" and is_scan(lines):
        return {**values, "format": SCAN}
    found: dict[str, Any] = {}
    if kind == "csv":
        found |= {"format": "csv", "delimiter": _delimiter(lines)}
        first = next(iter(_records(lines, found["delimiter"])), [])
    else:
        first = lines[0].split("\t") if lines else []
    if _is_header(first, [values.get("source_column", 0), values.get("target_column", 1)]):
        found["header"] = True
    return {**found, **values, "format": "csv" if kind == "csv" else values.get("format", "auto")}


def _with_direction(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a corpus of memories with both languages."""
    source, target = (values.get(f"{side}_column") or values.get(f"{side}_language") for side in ("source", "target"))
    found = find_direction(str(values["pairs"]), source=source, target=target)
    return {**values, "format": FORMAT, "source_column": found.source, "target_column": found.target}


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that cuts every record into the same number of columns, at least two; else a comma."""
    for delimiter in DELIMITERS:
        widths = {len(record) for record in _records(lines, delimiter)}
        if len(widths) == 1 and min(widths) > 1:
            return delimiter
    return ","


def _records(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the records of the beginning of a file; the last one may be cut off."""
    found: list[list[str]] = []
    try:
        found.extend(record for _, record in records(iter(lines), delimiter, "") if record)
    except ManyheadsError:
        return found
    return found[:-1] if len(lines) == BEGINNING else found


def _is_header(record: Sequence[str], columns: Sequence[int | str]) -> bool:
    """Whether a record has names in the chosen columns."""
    numbers = [int(column) for column in columns if isinstance(column, int) or column.isdecimal()]
    return bool(numbers) and all(number < len(record) and record[number].strip().lower() in NAMES for number in numbers)
