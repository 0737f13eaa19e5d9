"""Texts and pairs of texts, line by line, from a file or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import cast

from manyheads.errors import ManyheadsError

FIRST_BLOCK, LARGEST_BLOCK = 1 << 16, 1 << 18  # bytes of standard input: a thousand lines are answered soon, then more


def lines_of(file: Path | None) -> Iterator[str]:
    """Yield the lines of a file (also .gz), or of standard input, ended by newlines alone."""
    if file is not None:
        from manyheads.data.files import read_lines, text_files

        for path in text_files(str(file), role="texts"):
            yield from read_lines(path)
        return
    for chunk in line_chunks():
        yield from chunk


def line_chunks() -> Iterator[list[str]]:
    """Yield the lines of standard input that are there by now, many of a file, one from a keyboard, until it ends."""
    stream = cast(BufferedReader, sys.stdin.buffer)
    rest, number, size = b"", 0, FIRST_BLOCK
    while block := stream.read1(size):
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield [_decoded(line, number + i) for i, line in enumerate(lines, start=1)]
            number += len(lines)
        size = min(2 * size, LARGEST_BLOCK)
    if rest:
        yield [_decoded(rest, number + 1)]


def _decoded(line: bytes, number: int) -> str:
    """Return a line as text, without a carriage return at its end."""
    try:
        return line.rstrip(b"\r").decode("utf-8")
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
