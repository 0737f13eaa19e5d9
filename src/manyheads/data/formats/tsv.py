"""TSV: one record per line, its columns between tabs, without quotes. An empty line is an empty pair."""

from __future__ import annotations

from collections.abc import Iterator

from manyheads.config.corpora import CorpusSettings
from manyheads.data.formats.columns import PairColumns, needs_header
from manyheads.data.text.records import Pair


def read_tsv(lines: Iterator[str], settings: CorpusSettings, path: str) -> Iterator[tuple[int, Pair | None]]:
    """Yield the pair of every line with its number, from 1; None for a line that `keep` leaves out."""
    source, target = settings.source_column, settings.target_column
    begins_with_header = settings.header or needs_header(source, target, *settings.keep)
    header = next(lines, "").split("\t") if begins_with_header else None
    columns = PairColumns.find(source, target, settings.keep, header=header, where=f"{path}:1")
    for number, line in enumerate(lines, start=1 + begins_with_header):
        if line == "":
            yield number, Pair("", "")
        else:
            yield number, columns.pair(line.split("\t"), where=f"{path}:{number}", between="tab-separated")
