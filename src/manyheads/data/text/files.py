"""Lines of text files, plain or compressed (.gz, .xz, .zst), single or all files of a folder.

Only a newline ends a line. Unicode has other line separators; splitting at these would make parallel files drift apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import BufferedIOBase, BufferedReader
from pathlib import Path

from manyheads.bounded.files import require_possible_name, require_regular
from manyheads.bounded.machine import as_bytes
from manyheads.data.text.compression import DAMAGED, unpacked
from manyheads.errors import ManyheadsError

DATA_PREFIX = "data:"
LONGEST_LINE = 1 << 22  # bytes: some novels fit into it
BLOCK = 1 << 18  # bytes read at once

# How files begin that are taken for text, what they are, and what to do.
_NO_TEXT = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet (.xlsx, .ods)", "Unpack it, or save the sheet as CSV."),
    (b"\x1f\x8b", "a gzip file", "Let its name end with .gz."),
    (b"\xfd7zXZ", "an xz file", "Let its name end with .xz."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "Let its name end with .zst."),
    (b"BZh", "a bzip2 file", "Unpack it with: bunzip2"),
)


def data_folder() -> Path:
    """Return the folder of public corpora: `MANYHEADS_DATA`, or ./data."""
    return Path(os.environ.get("MANYHEADS_DATA") or "data")


def resolve(path: str) -> Path:
    """Return the path that a recipe's path refers to; `data:` stands for the folder of public corpora."""
    require_possible_name(path)
    if path.startswith(DATA_PREFIX):
        return data_folder() / path.removeprefix(DATA_PREFIX)
    try:
        return Path(path).expanduser()
    except RuntimeError:  # there is no such user
        return Path(path)


def text_files(path: str, *, role: str, read_once: bool = False) -> list[Path]:
    """Return the file at `path`, or all files of the folder at `path` in the order of their names.

    A corpus is read several times, so that a pipe or a device is an error, unless it is `read_once`.
    """
    resolved = resolve(path)
    if resolved.is_dir():
        files = sorted(file for file in resolved.iterdir() if file.is_file() and not file.name.startswith("."))
        if not files:
            raise ManyheadsError(f"the folder of the {role} is empty.", where=str(resolved))
        return files
    if not resolved.exists():
        fetched = path.startswith(DATA_PREFIX)
        cure = (
            "'manyheads data list' shows what 'manyheads data get' can fetch there." if fetched else "Check the path."
        )
        raise ManyheadsError(f"there is no such file for the {role}.", where=str(resolved), cure=cure)
    if not read_once:
        require_regular(resolved)
    return [resolved]


def open_file(path: Path) -> BufferedReader:
    """Open a file for reading its bytes."""
    return path.open("rb")


def read_lines(
    path: Path, *, lenient: bool = False, open_bytes: Callable[[Path], BufferedReader] = open_file
) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without line ends and without a byte-order mark at the start.

    Bytes that are not UTF-8 are an error or, with `lenient`, become replacement characters. `open_bytes` opens
    the file.
    """
    number = 0
    try:
        with open_bytes(path) as packed, unpacked(packed, path.suffix) as file:
            for number, raw in enumerate(_raw_lines(file), start=1):
                if len(raw) > LONGEST_LINE:
                    raise line_too_long(f"{path}:{number}")
                line = raw.rstrip(b"\r\n").decode("utf-8", "replace" if lenient else "strict")
                yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        raise _not_utf8(error, f"{path}:{number}") from None
    except DAMAGED as error:
        raise ManyheadsError(f"this {path.suffix} file is damaged: {error}.", where=f"{path}:{number + 1}") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _raw_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines of a file without newlines; one that is too long is cut off, since it may not fit into memory.

    Reading blocks and splitting them takes less time than asking the file for each line.
    """
    rest = b""
    while block := file.read1(BLOCK):
        lines = block.split(b"\n")
        lines[0] = rest + lines[0]
        rest = lines.pop()
        yield from lines
        if len(rest) > LONGEST_LINE:
            break
    if rest:
        yield rest


def line_too_long(where: str) -> ManyheadsError:
    """Return the error for a line that is too long to be a text."""
    return ManyheadsError(
        f"this line is longer than {as_bytes(LONGEST_LINE)}.",
        where=where,
        cure="A text is a line: cut it, or the file, into lines.",
    )


def _not_utf8(error: UnicodeDecodeError, where: str) -> ManyheadsError:
    """Return the error for a line in another encoding or of another kind of file, with what to do."""
    for beginning, kind, cure in _NO_TEXT:
        if error.object.startswith(beginning):
            return ManyheadsError(f"this is {kind}, not text.", where=where, cure=cure)
    encoding = "utf-16" if error.object.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
    return ManyheadsError(
        f"this line is not UTF-8 (byte {error.object[error.start]:#04x} at column {error.start + 1}).",
        where=where,
        cure=f"Convert the file, for instance with: iconv -f {encoding} -t utf-8",
    )


def unreadable(path: Path, error: OSError) -> ManyheadsError:
    """Return the error for a file that cannot be read."""
    return ManyheadsError(f"this file cannot be read: {error.strerror or error}.", where=str(path))
