"""SCAN (Lake and Baroni 2018) as it is published: a command and its actions on each line.

    IN: jump twice OUT: I_JUMP I_JUMP

The command is column 0, and the actions are column 1. An empty line is an empty pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.columns import PairColumns
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError

FORMAT = "scan"  # as a corpus names it
LINE = re.compile(r"IN: (.*?) OUT: (.*)")


def is_scan(lines: Sequence[str]) -> bool:
    """Return whether the beginning of a file has commands and actions on each of its lines, empty ones aside."""
    filled = [line for line in lines if line.strip()]
    return bool(filled) and all(map(LINE.fullmatch, filled))


def read_scan(lines: Iterator[str], settings: CorpusSettings, path: str) -> Iterator[tuple[int, Pair | None]]:
    """Yield the pair of every line with its number, from 1; None for a line that `keep` leaves out."""
    columns = PairColumns.find(
        settings.source_column, settings.target_column, settings.keep, header=None, where=f"{path}:1"
    )
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        if line.strip() == "":
            yield number, Pair("", "")
            continue
        found = LINE.fullmatch(line)
        if found is None:
            raise ManyheadsError("this line is not 'IN: command OUT: actions'.", where=where)
        yield number, columns.pair([one.strip() for one in found.groups()], where=where, between="labelled")
