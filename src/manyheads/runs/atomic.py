"""Files and folders that appear complete or not at all: temporary name, fsync, rename.

What is being written is a draft, `.NAME.RANDOM.draft`; what is being removed is `.NAME.RANDOM.doomed`. The random part
cannot be guessed and a draft is never opened if it exists, so that a link planted in its place is not followed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from manyheads.disk import sync
from manyheads.errors import ManyheadsError

# Version 0.1.0 named them by the number of the process: `.NAME.PID` and `.NAME.PID.doomed`.
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.(?:[0-9a-f]{16}\.(?:draft|doomed)|[0-9]+(?:\.doomed)?)")


def write_file(path: Path, content: bytes | str) -> None:
    """Replace a file by new content; a reader finds the old content or the new, never a part of it."""
    with new_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write into; it appears as `path` if the block ends without an error, and is removed otherwise."""
    draft = _temporary(path, "draft")
    with explained(path):
        file = draft.open("xb")
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder; it appears as `path` if the block ends without an error, and is removed otherwise."""
    draft = _temporary(path, "draft")
    with explained(path):
        draft.mkdir(parents=True)
        try:
            yield draft
            for entry in (*draft.rglob("*"), draft):
                if entry.is_dir():
                    sync(entry)
                else:
                    _sync_file(entry)
            remove_folder(path)
            draft.rename(path)
            sync(path.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def fresh_folder(path: Path) -> Iterator[Path]:
    """Like `new_folder`, but raise an error if the path exists and is not an empty folder: a user chose this path."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ManyheadsError("there is something here already.", where=str(path), cure="Choose another with --out.")
    with new_folder(path) as draft:
        yield draft


def remove_folder(path: Path) -> None:
    """Remove a folder so that no part of it remains under its name, even if the process is killed meanwhile."""
    doomed = _temporary(path, "doomed")
    with suppress(FileNotFoundError):
        path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def leftovers(folder: Path, names: str) -> list[Path]:
    """Return the temporary files and folders that killed processes left, for names that match a regular expression.

    The expression should be as narrow as the folder's layout, since names of version 0.1.0 could be other files.
    """
    entries = ((path, _TEMPORARY.fullmatch(path.name)) for path in folder.iterdir())
    return [path for path, temporary in entries if temporary and re.fullmatch(names, temporary["name"])]


def remove_leftovers(folder: Path, names: str) -> None:
    """Remove what killed processes left behind: the result of `leftovers`."""
    for leftover in leftovers(folder, names):
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _temporary(path: Path, kind: str) -> Path:
    """Return a name beside a path that cannot be guessed."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{kind}")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of writing, such as a full disk, into a ManyheadsError."""
    try:
        yield
    except OSError as error:
        raise ManyheadsError(
            f"this cannot be written: {error.strerror or error}.",
            where=str(path),
            cure="What was written before is intact. Make room (or choose another folder) and start the command again.",
        ) from error


def _sync_file(path: Path) -> None:
    """Wait until a file's content is on the disk; a disk that cannot keep it raises an error."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
