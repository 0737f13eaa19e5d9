"""Texts and pairs of texts, line by line, from a file or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from manyheads.errors import ManyheadsError


def lines_of(file: Path | None) -> Iterator[str]:
    """Yield the lines of a file (also .gz), or of standard input, ended by newlines alone."""
    if file is not None:
        from manyheads.data.files import read_lines, text_files

        for path in text_files(str(file), role="texts"):
            yield from read_lines(path)
        return
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            yield raw.rstrip(b"\r\n").decode("utf-8")
        except UnicodeDecodeError:
            raise ManyheadsError("this line is not UTF-8.", where=f"standard input:{number}") from None


def pairs_of(lines: Iterable[str], file: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the two texts of each line, which has one tab between them."""
    for number, line in enumerate(lines, start=1):
        first, tab, second = line.partition("\t")
        if not tab or "\t" in second:
            tabs = line.count("\t")
            raise ManyheadsError(
                f"this line has {tabs} tabs, and a pair has one.", where=f"{file or 'standard input'}:{number}"
            )
        yield first, second
