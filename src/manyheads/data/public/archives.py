"""Unpacks archives safely, so that no member is written outside the folder, and explains disk errors."""

from __future__ import annotations

import errno
import gzip
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from manyheads.errors import ManyheadsError

CHUNK = 1 << 18  # bytes read at a time
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile)


@contextmanager
def explain_disk_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into a `ManyheadsError` with a cure."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ManyheadsError(
                "the disk is full.",
                where=str(path),
                cure="Free some space, or choose another folder with --to.",
            ) from error
        raise ManyheadsError(
            f"cannot be read or written: {error.strerror or error}.", where=str(error.filename or path)
        ) from error


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a `.tar.gz` or `.zip` into a new folder, which appears only when it is complete.

    Only files and folders are accepted. An absolute path, a `..`, a link or a device is an error, and nothing is
    written outside the folder.
    """
    if folder.exists():
        raise ManyheadsError("exists already.", where=str(folder), cure="Remove it, or unpack to another folder.")
    with explain_disk_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
            unpacked = Path(scratch) / "unpacked"
            unpacked.mkdir()
            try:
                _extract(archive, unpacked)
            except (*DAMAGED, RuntimeError) as error:
                raise ManyheadsError(
                    f"is not a complete .tar.gz or .zip archive ({error}).",
                    where=str(archive),
                    cure="Download it again.",
                ) from error
            unpacked.rename(folder)
    return folder


def _extract(archive: Path, folder: Path) -> None:
    """Extract all members of an archive into a folder."""
    if starts_with(archive, ZIP_MAGIC):
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                plain = kind in (0, stat.S_IFREG, stat.S_IFDIR)
                target = _safe_target(folder, entry.filename, archive, plain=plain)
                _write_member(None if entry.is_dir() else packed.open(entry), target)
        return
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            target = _safe_target(folder, member.name, archive, plain=member.isreg() or member.isdir())
            _write_member(tar.extractfile(member) if member.isreg() else None, target)


def _safe_target(folder: Path, name: str, archive: Path, *, plain: bool) -> Path:
    """Return the path to extract a member to; raise an error for an unsafe member."""
    # No links are accepted: a corpus needs none, and chains of links could lead outside the folder.
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or "\0" in name:
        raise ManyheadsError("refused: one of its members has no name.", where=str(archive), cure="Download it again.")
    outside = ".." in parts or name.startswith(("/", "\\")) or PureWindowsPath(name).drive
    if outside or not plain:
        what = "points outside the folder" if outside else "is neither a file nor a folder (a link or a device)"
        raise ManyheadsError(
            f"refused: its member '{name}' {what}.", where=str(archive), cure="Do not trust this archive."
        )
    return folder.joinpath(*parts)


def _write_member(content: IO[bytes] | None, target: Path) -> None:
    """Write a file, or create a folder (None)."""
    if content is None:
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with content, target.open("wb") as out:
        shutil.copyfileobj(content, out, CHUNK)


def starts_with(path: Path, magic: bytes) -> bool:
    """Return whether a file begins with the given bytes."""
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic
