"""Fingerprints of files, which tell whether a corpus is still the same.

A large corpus takes long to read, so a file is hashed, and its lines are counted, while it is read for another purpose.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from manyheads.bounded.files import require_regular
from manyheads.data.text.files import open_file, read_lines, unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK = 1 << 20  # bytes that are read and hashed at once


class Fingerprints:
    """The checksums of files, computed when a file is first read to its end, and again if it has changed since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_State, bytes]] = {}
        self._counts: dict[Path, tuple[_State, int]] = {}

    def of(self, paths: Sequence[Path]) -> str:
        """Return one sha256 for the bytes of several files, and read those that were not read before."""
        digest = hashlib.sha256()
        for path in paths:
            try:
                digest.update(self._checksum(path) or self._read(path))
            except OSError as error:
                raise unreadable(path, error) from None
        return digest.hexdigest()

    def checksum(self, path: Path) -> str:
        """Return the sha256 of a file, and read it if that is necessary."""
        try:
            return (self._checksum(path) or self._read(path)).hex()
        except OSError as error:
            raise unreadable(path, error) from None

    def count(self, path: Path) -> int:
        """Return the number of lines of a text file, and read it if that is necessary."""
        state, count = self._counts.get(path, (None, 0))
        return count if state == _State.of(path.stat()) else sum(1 for _ in self.lines(path, lenient=True))

    def lines(self, path: Path, *, lenient: bool = False) -> Iterator[str]:
        """Yield the lines of a text file, as `read_lines` does, and count them on the way."""
        number, before = 0, _state_of(path)
        for line in read_lines(path, lenient=lenient, open_bytes=self.open):
            number += 1
            yield line
        if before is not None and before == _state_of(path):
            self._counts[path] = before, number

    def open(self, path: Path) -> io.BufferedReader:
        """Open a file for reading its bytes, which are hashed on the way unless their checksum is known."""
        if self._checksum(path):
            return open_file(path)
        file = open_file(path)
        state = _State.of(os.fstat(file.fileno()))

        def remember(checksum: bytes) -> None:
            """Remember the checksum for the state that the file was opened in."""
            self._known[path] = state, checksum

        return io.BufferedReader(_Hashed(file, remember), BLOCK)

    def _checksum(self, path: Path) -> bytes | None:
        """Return the checksum of a file that was read before and has not changed since."""
        state, checksum = self._known.get(path, (None, None))
        return checksum if state == _State.of(path.stat()) else None

    def _read(self, path: Path) -> bytes:
        """Read a file to its end and return its checksum; a device may have no end."""
        require_regular(path)
        with self.open(path) as file:
            while file.read(BLOCK):
                pass
        return self._known[path][1]


class _State(NamedTuple):
    """What changes whenever a file is written."""

    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the size and the times of a file."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _state_of(path: Path) -> _State | None:
    """Return the state of a file, if it is there."""
    try:
        return _State.of(path.stat())
    except OSError:
        return None


class _Hashed(io.RawIOBase):
    """The bytes of a file, hashed while they are read; at their end, a function gets the checksum."""

    def __init__(self, file: io.BufferedReader, at_end: Callable[[bytes], None]) -> None:
        self._file = file
        self._at_end = at_end
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Return True, as a buffered reader requires it."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes into a buffer and return their number, which is 0 at the end."""
        view = memoryview(buffer)
        count = self._file.readinto(view)
        self._digest.update(view[:count])
        if not count:
            self._at_end(self._digest.digest())
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
