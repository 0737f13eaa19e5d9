"""The finished translations of a document, beside its output, so that a translation that was killed goes on.

The first line is a fingerprint of everything that the translations depend on; a journal with another one is begun
again. Each further line is a finished text with its number. What comes after a line that is damaged is translated
again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from manyheads.bounded.files import read_bytes
from manyheads.bounded.json_text import parse_json
from manyheads.documents.interface import Styled, Tag
from manyheads.runs.atomic import explained
from manyheads.runs.checksums import checksum

LARGEST = 1 << 28  # bytes
DIGITS = 16  # of the checksum of a line


@dataclass(frozen=True)
class Finished:
    """The translation of a text, the warning about it, and the language in between, if there was one."""

    translation: Styled
    warning: str | None = None
    pivot: str | None = None


class Journal:
    """The finished translations of one document, in the order of its texts; without a file, only in memory."""

    def __init__(self, file: BinaryIO | None = None, finished: Sequence[Finished] = ()) -> None:
        self._file = file
        self.finished = list(finished)

    def add(self, some: Sequence[Finished]) -> None:
        """Keep further translations; they are on the disk when this returns."""
        begin = len(self.finished)
        self.finished += some
        if self._file is not None:
            self._file.write(b"".join(_line([number, *_values(one)]) for number, one in enumerate(some, start=begin)))
            self._file.flush()
            os.fsync(self._file.fileno())


@contextmanager
def journal(path: Path, fingerprint: str) -> Iterator[Journal]:
    """Yield the journal at `path`; it is removed if the block ends without an error."""
    with explained(path):
        finished, size = _read(path, fingerprint)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        with os.fdopen(descriptor, "r+b") as file:
            file.truncate(size)
            file.seek(size)
            if not size:
                file.write(_line(fingerprint))
            yield Journal(file, finished)
        path.unlink(missing_ok=True)


def journal_path(out: Path) -> Path:
    """Return the name of the journal of an output."""
    return out.with_name(f".{out.name}.manyheads")


def _read(path: Path, fingerprint: str) -> tuple[list[Finished], int]:
    """Return the finished translations of a journal, and the number of bytes up to the last one that is whole."""
    try:
        header, *lines = read_bytes(path, most=LARGEST).splitlines(keepends=True)
    except (FileNotFoundError, ValueError):  # there is none, or it is empty
        return [], 0
    if header != _line(fingerprint):
        return [], 0
    finished, size = [], len(header)
    for number, line in enumerate(lines):
        one = _parsed(line, number)
        if one is None:
            break
        finished.append(one)
        size += len(line)
    return finished, size


def _parsed(line: bytes, number: int) -> Finished | None:
    """Return what a line says about the text with this number; None for a line that is damaged."""
    try:
        written, text, tags, warning, pivot = parse_json(line[DIGITS:])
        one = Finished(Styled(text, tuple(Tag(*tag) for tag in tags)), warning, pivot)
    except (ValueError, TypeError):
        return None
    return one if written == number and line == _line([number, *_values(one)]) else None


def _values(one: Finished) -> list[Any]:
    """Return a finished translation as values of JSON."""
    return [one.translation.text, [list(tag) for tag in one.translation.tags], one.warning, one.pivot]


def _line(value: object) -> bytes:
    """Return a value as a line of JSON, after its checksum."""
    content = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return checksum(content)[:DIGITS].encode() + content + b"\n"
