"""Files and folders that appear complete or not at all: temporary name, fsync, rename."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from manyheads.errors import ManyheadsError


def write_file(path: Path, content: bytes | str) -> None:
    """Replace a file by new content; whoever reads it sees the old one or the new one, never a part."""
    with new_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write into; it appears as `path` when the block ends well, and vanishes otherwise."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with explained(path):
        try:
            with draft.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            _sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to write into; it appears as `path` when the block ends well, and vanishes otherwise."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    with explained(path):
        try:
            draft.mkdir(parents=True)
            yield draft
            for entry in (*draft.rglob("*"), draft):
                (_sync_folder if entry.is_dir() else _sync_file)(entry)
            remove_folder(path)
            draft.rename(path)
            _sync_folder(path.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def fresh_folder(path: Path) -> Iterator[Path]:
    """Do as `new_folder` does, but never in the place of something else: a user named this path."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ManyheadsError("there is something here already.", where=str(path), cure="Choose another with --out.")
    with new_folder(path) as draft:
        yield draft


def remove_folder(path: Path) -> None:
    """Remove a folder so that no half of it remains under its name, even if we are killed meanwhile."""
    doomed = path.with_name(f".{path.name}.{os.getpid()}.doomed")
    with suppress(FileNotFoundError):
        path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove drafts that a killed process left behind."""
    for leftover in folder.glob(".*.*"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a full disk or a forbidden folder into a sentence."""
    try:
        yield
    except OSError as error:
        raise ManyheadsError(
            f"this cannot be written: {error.strerror or error}.",
            where=str(path),
            cure="What was written before is intact. Make room (or choose another folder) and start the command again.",
        ) from error


def _sync_file(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    """Wait until a folder's entries are on the disk, where the system can."""
    with suppress(OSError):  # some systems cannot open folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
