"""Whole files, up to a size: a configuration, a vocabulary, a tokenizer.

Only regular files are read. A pipe may never end, and a second reading of it finds nothing; a device such as /dev/zero
has no end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from manyheads.errors import ManyheadsError

MOST_SETTINGS = 1 << 20  # bytes of a recipe or a configuration
MOST_VOCABULARY = 1 << 27  # bytes of a tokenizer or a vocabulary
MOST_RECORDS = 1 << 27  # bytes of what a program keeps: the state of a training, or what is held out


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes; the errors of the system are passed on."""
    require_regular(path)
    if (size := path.stat().st_size) > most:
        raise ManyheadsError(f"this file has {size:,} bytes, and at most {most:,} are read.", where=str(path))
    return path.read_bytes()


def require_regular(path: Path) -> None:
    """Raise an error for a pipe or a device; a folder has an error of its own, when it is opened."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise ManyheadsError(
        f"this is a {kind}, and not a file, which can be read several times.",
        where=str(path),
        cure="Write its content into a file first.",
    )


def require_possible_name(path: str | os.PathLike[str]) -> None:
    """Raise an error for a path that no file can have: with a NUL character, or longer than the system allows."""
    name = os.fspath(path)
    problem = "" if "\0" not in name else "it has a NUL character"
    try:
        if not problem:
            Path(name).lstat()
    except OSError as error:
        problem = "it is too long" if error.errno == errno.ENAMETOOLONG else ""
    if problem:
        shown = name[:60].replace("\0", "\\0") + ("…" if len(name) > 60 else "")
        raise ManyheadsError(f"this cannot be the name of a file: {problem}.", where=shown)
