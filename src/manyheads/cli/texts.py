"""The texts given to a verb, by one rule for all verbs.

An argument that is the name of an existing file is read as that file, one text per line, which is noted on standard
error. `-`, or no argument, is standard input. Everything else is a text. With `--text`, every argument is a text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated, cast

import typer

from manyheads.errors import ManyheadsError

FIRST_BLOCK, LARGEST_BLOCK = 1 << 16, 1 << 18  # bytes of standard input: small at first, for a fast first result
FILE_LINES = 4096  # lines of a file that are returned together

STANDARD_INPUT = "standard input"
LIKE_A_FILE = re.compile(r"data:\S+|\S+\.(txt|tsv|jsonl|gz)")  # one word that is probably not meant as a text

RULE = "Texts, or files with one text per line (also .gz); - or nothing: standard input."
Texts = Annotated[list[str] | None, typer.Argument(metavar="TEXT|FILE|-", help=RULE, show_default=False)]
PairTexts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT|FILE|-",
        help="Lines of question, tab, context: as texts, or in files (also .gz); - or nothing: standard input.",
        show_default=False,
    ),
]
AsText = Annotated[
    bool, typer.Option("--text", help="Read every argument as a text, even if it is the name of a file.")
]


@dataclass(frozen=True)
class Source:
    """Texts of one origin: its name in messages, whether it is a file, and the texts, many at a time."""

    name: str
    chunks: Iterable[list[str]]
    is_file: bool = False


def sources_of(arguments: Sequence[str] | None, *, as_text: bool) -> list[Source]:
    """Return the sources of the texts; nothing is read yet, but a missing file raises an error."""
    if not arguments:
        return [Source(STANDARD_INPUT, line_chunks())]
    sources: list[Source] = []
    for kind, group in groupby(arguments, key=lambda argument: "text" if as_text else _kind(argument)):
        given = list(group)
        if kind == "text":
            sources.append(Source("text", [[in_utf8(text) for text in given]]))
        elif kind == "input":
            sources.append(Source(STANDARD_INPUT, line_chunks()))
        else:
            sources += [_file(name) for name in given]
    return sources


def in_utf8(text: str) -> str:
    """Return a text of the command line; raise an error if it was in another encoding."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ManyheadsError(
            "this text is not UTF-8.",
            where=text[:60].encode("ascii", "backslashreplace").decode("ascii"),
            cure="Write it into a file, and convert that with iconv.",
        )
    return text


def text_chunks(sources: Iterable[Source]) -> Iterator[list[str]]:
    """Yield the texts of all sources, many at a time, in order."""
    for source in sources:
        yield from source.chunks


def lines_of(sources: Iterable[Source]) -> Iterator[str]:
    """Yield the texts of all sources, in order."""
    for chunk in text_chunks(sources):
        yield from chunk


def pairs_of(sources: Iterable[Source]) -> Iterator[tuple[str, str]]:
    """Yield the two texts of each line, which has one tab between them."""
    for source in sources:
        for number, line in enumerate(lines_of([source]), start=1):
            first, tab, second = line.partition("\t")
            if not tab or "\t" in second:
                tabs = line.count("\t")
                raise ManyheadsError(f"this line has {tabs} tabs, and a pair has one.", where=f"{source.name}:{number}")
            yield first, second


def line_chunks() -> Iterator[list[str]]:
    """Yield the lines of standard input that are available: many of a file, one from a keyboard, until it ends."""
    from manyheads.data.text.files import LONGEST_LINE, line_too_long

    if sys.stdin is None:
        raise ManyheadsError("standard input is closed.", cure="Give a text or a file.")
    stream = cast(BufferedReader, sys.stdin.buffer)
    rest, number, size = b"", 0, FIRST_BLOCK
    while block := stream.read1(size):
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield [_decoded(line, number + i) for i, line in enumerate(lines, start=1)]
            number += len(lines)
        if len(rest) > LONGEST_LINE:
            raise line_too_long(f"{STANDARD_INPUT}:{number + 1}")
        size = min(2 * size, LARGEST_BLOCK)
    if rest:
        yield [_decoded(rest, number + 1)]


def _decoded(line: bytes, number: int) -> str:
    """Return a line as text, without a carriage return at its end."""
    try:
        return line.rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        raise ManyheadsError("this line is not UTF-8.", where=f"{STANDARD_INPUT}:{number}") from None


def existing(argument: str) -> Path | None:
    """Return the file or folder that an argument names, if it exists; `.`, `..` and `/` are texts."""
    if not argument.strip("./"):
        return None
    from manyheads.data.text.files import resolve

    try:
        place = resolve(argument)
        return place if place.exists() else None
    except (OSError, ManyheadsError):  # a text that cannot be the name of a file
        return None


def _kind(argument: str) -> str:
    """Return what an argument is: 'text', 'file' or 'input'; raise an error if it may be a mistake."""
    if argument == "-":
        return "input"
    place = existing(argument)
    if place is not None and place.is_dir() and not argument.endswith("/"):
        raise ManyheadsError(
            "this is the name of a folder.",
            where=argument,
            cure=f"Write {argument}/ to read the files in it, or add --text to take it as a text.",
        )
    if place is None and LIKE_A_FILE.fullmatch(argument):
        raise ManyheadsError(
            "there is no such file.", where=argument, cure="Check the name, or add --text to take it as a text."
        )
    return "text" if place is None else "file"


def _file(name: str) -> Source:
    """Return the texts of a file, or of the files of a folder, and note on standard error that it is read."""
    print(f"Reading {name}, one text per line. (With --text, the name itself is the text.)", file=sys.stderr)
    return Source(name, _file_chunks(name), is_file=True)


def _file_chunks(name: str) -> Iterator[list[str]]:
    """Yield the lines of a file (also .gz), ended by newlines alone, many at a time."""
    from manyheads.data.text.files import read_lines, text_files

    lines = (line for path in text_files(name, role="texts", read_once=True) for line in read_lines(path))
    while chunk := list(islice(lines, FILE_LINES)):
        yield chunk
