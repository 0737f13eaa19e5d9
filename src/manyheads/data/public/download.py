"""Downloads public files into the data folder: resumable, verified, and never half written.

Users call `get`. It uses `fetch` (one address, resumable, verified), `archives.unpack` (one archive, safely) and
`content_sha256` (the checksums of the catalogue).
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import shutil
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import cast

from manyheads.data.public.archives import (
    CHUNK,
    DAMAGED,
    GZIP_MAGIC,
    ZIP_MAGIC,
    explain_disk_errors,
    starts_with,
    unpack,
)
from manyheads.data.public.catalogue import find
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.data.text.files import data_folder
from manyheads.errors import ManyheadsError

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes received, and the total if the server sends it."""
FileProgress = Callable[[str, int, int | None], None]
"""The same, with the path of the file inside the data folder as the first argument."""

_TIMEOUT_SECONDS = 30.0
_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def get(
    name: str,
    folder: Path | None = None,
    *,
    source: Path | None = None,
    progress: FileProgress | None = None,
) -> list[Path]:
    """Put all files of a corpus into a folder and return their paths; files that are already correct are kept.

    The default folder is the environment variable MANYHEADS_DATA, or `./data`. The files are downloaded from their
    public addresses or, with `source`, copied from a folder that has them: under the path of the catalogue or the end
    of it, compressed or not, or as the publisher's archive. Every file is verified before it is put in place.
    """
    corpus = find(name)
    folder = folder or data_folder()
    if source is not None and not source.is_dir():
        raise ManyheadsError("is not a folder.", where=str(source), cure="Give --from a folder that exists.")
    paths = []
    for file in corpus.files:
        target = folder / file.path
        if not is_verified(target, file):
            if source is None:
                _fetch_into(target, file, corpus, progress)
            else:
                _install(_find_in(source, file), file, target)
        paths.append(target)
    return paths


def is_verified(path: Path, file: DataFile) -> bool:
    """Return whether the file at `path` exists and has the checksum of the catalogue."""
    try:
        return path.is_file() and content_sha256(path, archive=file.is_archive) == file.content_sha256
    except ManyheadsError:
        return False


def content_sha256(path: Path, *, archive: bool) -> str:
    """Return the checksum of the content of a `.gz` file (with `archive`: of a `.tar.gz`), as in the catalogue."""
    try:
        if archive:
            return _listing_sha256(path)
        with gzip.open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except DAMAGED as error:
        raise ManyheadsError(f"is damaged or cut short ({error}).", where=str(path)) from error


def _listing_sha256(path: Path) -> str:
    """Return the checksum of the files in an archive: of the output of `sha256sum` in their folder."""
    lines = []
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            name = PurePosixPath(member.name)
            content = archive.extractfile(member) if member.isreg() and len(name.parts) > 1 else None
            if content is not None:
                digest = hashlib.file_digest(cast(BufferedReader, content), "sha256").hexdigest()
                lines.append((name.name.encode(), f"{digest}  {name.name}\n".encode()))
    return hashlib.sha256(b"".join(line for _, line in sorted(lines))).hexdigest()


class _InterruptedTransferError(Exception):
    """The transfer was interrupted; another attempt can continue where it stopped."""


def fetch(
    url: str,
    destination: Path,
    *,
    sha256: str | None,
    progress: Progress | None = None,
    attempts: int = 4,
    pause: float = 1.0,
) -> Path:
    """Download `url` to `destination`, which appears only when it is complete and its checksum is right.

    Received data is kept next to it in a `.part` file, and the next call continues from there. If the checksum of a
    continued download is wrong, the download starts again from the beginning. Without a checksum, a part of an earlier
    call is not used. After `attempts` attempts without a new byte, `pause` seconds apart at first and then longer, the
    result is an error.
    """
    part = destination.with_name(destination.name + ".part")
    transfer = _Transfer(url, part, progress, checked=sha256 is not None)
    with explain_disk_errors(part):
        destination.parent.mkdir(parents=True, exist_ok=True)
        if sha256 is None:
            part.unlink(missing_ok=True)
    transfer.run(attempts, pause)
    actual = _file_sha256(part)
    if sha256 is not None and actual != sha256 and transfer.resumed:
        part.unlink()
        transfer.run(attempts, pause)
        actual = _file_sha256(part)
    if sha256 is not None and actual != sha256:
        part.unlink()
        raise _mismatch(url, sha256, actual)
    with explain_disk_errors(destination):
        part.replace(destination)
    return destination


@dataclass
class _Transfer:
    """One download into a `.part` file, over one or more connections."""

    url: str
    part: Path
    progress: Progress | None
    checked: bool
    resumed: bool = False
    validator: str | None = None

    def run(self, attempts: int, pause: float) -> None:
        """Download until the part is complete; raise an error after several attempts without new data."""
        failures = 0
        while True:
            before = self._size()
            try:
                return self._attempt(before)
            except _InterruptedTransferError as error:
                failures = 1 if self._size() > before else failures + 1
                if failures >= attempts:
                    raise _unreachable(self.url, str(error)) from error
                time.sleep(pause * 2 ** (failures - 1))

    def _size(self) -> int:
        """Return the number of bytes received so far."""
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self, size: int) -> None:
        """Request the file, or its rest after `size` bytes."""
        headers = {"User-Agent": "manyheads"}
        if size and (self.checked or self.validator):
            headers["Range"] = f"bytes={size}-"
            if self.validator:
                headers["If-Range"] = self.validator
        try:
            request = urllib.request.Request(self.url, headers=headers)
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
                self._receive(response, size)
        except urllib.error.HTTPError as error:
            self._handle_status(error, size)
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            raise _InterruptedTransferError(str(getattr(error, "reason", error))) from error

    def _receive(self, response: http.client.HTTPResponse, size: int) -> None:
        """Append the body of a response to the part."""
        # A server that ignores the range answers 200 with the whole file: then the part starts again.
        partial_content = response.status == 206
        if partial_content and not (response.headers["Content-Range"] or "").startswith(f"bytes {size}-"):
            self.part.unlink(missing_ok=True)
            raise _InterruptedTransferError("the server did not send the requested range")
        self.resumed = self.resumed or partial_content
        entity_tag = response.headers["ETag"] or ""
        # A weak tag does not guarantee that two versions have the same bytes.
        self.validator = entity_tag if entity_tag.startswith('"') else None
        done = size if partial_content else 0
        length = response.headers["Content-Length"]
        total = done + int(length) if length else None
        with explain_disk_errors(self.part), self.part.open("ab" if partial_content else "wb") as out:
            while chunk := _read(response):
                out.write(chunk)
                done += len(chunk)
                if self.progress is not None:
                    self.progress(done, total)
            out.flush()
            os.fsync(out.fileno())
        if total is not None and done < total:
            raise _InterruptedTransferError(f"the connection closed after {done:,} of {total:,} bytes")

    def _handle_status(self, error: urllib.error.HTTPError, size: int) -> None:
        """Handle an error status: return if the part is complete, otherwise raise."""
        if error.code == 416 and size:
            # There is nothing after our last byte: the part is complete (the checksum decides), or of another file.
            if error.headers["Content-Range"] == f"bytes */{size}":
                self.resumed = True
                return
            self.part.unlink()
            raise _InterruptedTransferError("the server has no such range") from error
        if error.code in _RETRIED_STATUS:
            raise _InterruptedTransferError(f"the server answered {error.code} {error.reason}") from error
        raise ManyheadsError(
            f"the server answered {error.code} {error.reason}.",
            where=self.url,
            cure="The file may have moved; copy it from a folder that has it: --from FOLDER.",
        ) from error


def _read(response: http.client.HTTPResponse) -> bytes:
    """Return the next bytes of a response."""
    # A separate function, so that network errors are not confused with disk errors, which are OSErrors too.
    try:
        return response.read(CHUNK)
    except (http.client.HTTPException, OSError) as error:
        raise _InterruptedTransferError(str(error) or type(error).__name__) from error


def _file_sha256(path: Path) -> str:
    """Return the checksum of a file's bytes."""
    with explain_disk_errors(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unreachable(url: str, reason: str) -> ManyheadsError:
    """Return the error for an address that cannot be downloaded."""
    return ManyheadsError(
        f"cannot be fetched: {reason}.",
        where=url,
        cure="Check the network and try again, or copy the files from a folder that has them: --from FOLDER.",
    )


def _mismatch(where: str, expected: str, actual: str) -> ManyheadsError:
    """Return the error for a file with a wrong checksum."""
    return ManyheadsError(
        f"is not the file of the catalogue: its sha256 is {actual}, expected {expected}. It was not kept.",
        where=where,
        cure="The public file may have changed; copy the right one from a folder that has it: --from FOLDER.",
    )


def _fetch_into(target: Path, file: DataFile, corpus: Corpus, progress: FileProgress | None) -> None:
    """Download a file from its public address and install it."""
    if file.url is None:
        note = f" {corpus.note}" if corpus.note else ""
        raise ManyheadsError(
            f"{corpus.name} has no exact public address (published by: {corpus.homepage}).{note}",
            cure=f"Copy it from a folder that has it: manyheads data get {corpus.name} --from FOLDER",
        )
    report = partial(progress, file.path) if progress is not None else None
    downloaded = target.with_name(target.name + ".download")
    fetch(file.url, downloaded, sha256=file.fetched_sha256, progress=report)
    try:
        _install(downloaded, file, target, where=file.url)
    finally:
        downloaded.unlink(missing_ok=True)


def _find_in(source: Path, file: DataFile) -> Path:
    """Return the file in a user's folder: by the end of its path, compressed or not, or as the public archive."""
    parts = PurePosixPath(file.path).parts
    ends = ["/".join(parts[start:]) for start in range(len(parts))]  # s/raw/x.gz, raw/x.gz, x.gz
    candidates = [name for end in ends for name in (end, end.removesuffix(".gz"))]
    if file.public_name is not None:
        candidates.append(file.public_name)
    for candidate in candidates:
        if (source / candidate).is_file():
            return source / candidate
    raise ManyheadsError(
        f"has none of: {', '.join(dict.fromkeys(candidates))}.",
        where=str(source),
        cure="Give --from a folder that holds one of these files.",
    )


def _install(raw: Path, file: DataFile, target: Path, *, where: str | None = None) -> None:
    """Convert a file to the format of the data folder, verify it, and move it into place."""
    with explain_disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            packed = Path(scratch) / target.name
            _pack(raw, file, packed)
            try:
                actual = content_sha256(packed, archive=file.is_archive)
            except ManyheadsError as error:
                raise ManyheadsError(error.what, where=where or str(raw), cure="Download it again.") from error
            if actual != file.content_sha256:
                raise _mismatch(where or str(raw), file.content_sha256, actual)
            packed.replace(target)


def _pack(raw: Path, file: DataFile, packed: Path) -> None:
    """Write a file in the format of the data folder; a public archive is unpacked first."""
    zipped, gzipped = starts_with(raw, ZIP_MAGIC), starts_with(raw, GZIP_MAGIC)
    public_archive = zipped or (gzipped and file.is_archive and not is_verified(raw, file))
    if public_archive and file.member is not None:
        inner = unpack(raw, packed.with_name("unpacked")) / file.member
        if inner.is_dir():
            _pack_folder(inner, file, packed)
        elif inner.is_file():
            _compress(inner, packed)
        else:
            raise ManyheadsError(f"has no member '{file.member}'.", where=str(raw))
    elif gzipped:
        shutil.copyfile(raw, packed)
    else:
        _compress(raw, packed)


def _compress(plain: Path, packed: Path) -> None:
    """Write a file as `.gz`."""
    # Without name and time in the header, the same content gives the same file.
    with plain.open("rb") as source, packed.open("wb") as out:
        with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as stream:
            shutil.copyfileobj(source, stream, CHUNK)
        out.flush()
        os.fsync(out.fileno())


def _pack_folder(folder: Path, file: DataFile, packed: Path) -> None:
    """Write a folder as `.tar.gz`."""
    archive = packed.with_name("folder.tar")
    with tarfile.open(archive, "w") as tar:
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name not in file.leave_out:
                entry = tarfile.TarInfo(f"{file.folder or folder.name}/{path.name}")
                entry.size = path.stat().st_size
                with path.open("rb") as content:
                    tar.addfile(entry, content)
    _compress(archive, packed)
