"""Putting public files into the data folder: fetched and resumed, verified, and never half written.

`get` is what a user calls. It is made of `fetch` (one address, resumable, checked), `archives.unpack` (one archive,
which cannot write outside its folder) and `content_sha256` (what the catalogue's checksums mean).
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

from manyheads.data.public.archives import CHUNK, DAMAGED, GZIP_MAGIC, ZIP_MAGIC, explained_disk, starts_with, unpack
from manyheads.data.public.catalogue import find
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.data.text.files import data_folder
from manyheads.errors import ManyheadsError

Progress = Callable[[int, int | None], None]
"""Called with the bytes done and the bytes in all, where the server says how many those are."""
FileProgress = Callable[[str, int, int | None], None]
"""The same, after the path of the file inside the data folder."""

_TIMEOUT_SECONDS = 30.0
_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def get(
    name: str,
    folder: Path | None = None,
    *,
    source: Path | None = None,
    progress: FileProgress | None = None,
) -> list[Path]:
    """Put all files of a corpus into the folder and return their paths; files already right are left alone.

    The folder is the environment variable MANYHEADS_DATA or else `./data`, unless given. The files come from
    their public addresses or, with `source`, from a folder that has them: under the catalogue's path or the end of
    it, compressed or not, or as the publisher's archive. Nothing is put in place unverified.
    """
    corpus = find(name)
    folder = folder or data_folder()
    if source is not None and not source.is_dir():
        raise ManyheadsError("is not a folder.", where=str(source), cure="Give --from a folder that exists.")
    placed = []
    for file in corpus.files:
        target = folder / file.path
        if not is_right(target, file):
            if source is None:
                _fetch_into(target, file, corpus, progress)
            else:
                _install(_find_in(source, file), file, target)
        placed.append(target)
    return placed


def is_right(path: Path, file: DataFile) -> bool:
    """Return whether the file at `path` exists and has the content that the catalogue promises."""
    try:
        return path.is_file() and content_sha256(path, archive=file.is_archive) == file.content_sha256
    except ManyheadsError:
        return False


def content_sha256(path: Path, *, archive: bool) -> str:
    """Return the catalogue's checksum of what a `.gz` file (with `archive`: a `.tar.gz`) holds."""
    try:
        if archive:
            return _listing_sha256(path)
        with gzip.open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except DAMAGED as error:
        raise ManyheadsError(f"is damaged or cut short ({error}).", where=str(path)) from error


def _listing_sha256(path: Path) -> str:
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
    """The transfer broke off; another attempt may go on where it stopped."""


def fetch(
    url: str,
    destination: Path,
    *,
    sha256: str | None,
    progress: Progress | None = None,
    attempts: int = 4,
    pause: float = 1.0,
) -> Path:
    """Download `url` to `destination`, which appears only when it is whole and its checksum is right.

    What has arrived is kept beside it as `.part`, and the next call goes on from there. The final checksum
    tells whether the halves belong together; where they do not, the download starts once more from nothing.
    Without a checksum, a half of an earlier call is never trusted. `attempts` without a single new byte,
    `pause` seconds apart and then longer, end in an error.
    """
    part = destination.with_name(destination.name + ".part")
    transfer = _Transfer(url, part, progress, checked=sha256 is not None)
    with explained_disk(part):
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
    with explained_disk(destination):
        part.replace(destination)
    return destination


@dataclass
class _Transfer:
    """One download into a `.part` file, over as many connections as it takes."""

    url: str
    part: Path
    progress: Progress | None
    checked: bool
    resumed: bool = False
    validator: str | None = None

    def run(self, attempts: int, pause: float) -> None:
        """Download until the part is whole; raise an error when the network gives nothing any more."""
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
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self, size: int) -> None:
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
            self._refused(error, size)
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            raise _InterruptedTransferError(str(getattr(error, "reason", error))) from error

    def _receive(self, response: http.client.HTTPResponse, size: int) -> None:
        # A server that ignores the range answers 200 with the whole file: then the part begins again.
        goes_on = response.status == 206
        if goes_on and not (response.headers["Content-Range"] or "").startswith(f"bytes {size}-"):
            self.part.unlink(missing_ok=True)
            raise _InterruptedTransferError("the server sent another range than it was asked for")
        self.resumed = self.resumed or goes_on
        entity_tag = response.headers["ETag"] or ""
        # A weak tag says that two versions mean the same, not that their bytes are the same.
        self.validator = entity_tag if entity_tag.startswith('"') else None
        done = size if goes_on else 0
        length = response.headers["Content-Length"]
        total = done + int(length) if length else None
        with explained_disk(self.part), self.part.open("ab" if goes_on else "wb") as out:
            while chunk := _read(response):
                out.write(chunk)
                done += len(chunk)
                if self.progress is not None:
                    self.progress(done, total)
            out.flush()
            os.fsync(out.fileno())
        if total is not None and done < total:
            raise _InterruptedTransferError(f"the connection closed after {done:,} of {total:,} bytes")

    def _refused(self, error: urllib.error.HTTPError, size: int) -> None:
        if error.code == 416 and size:
            # Nothing lies beyond our last byte: the part is whole (the checksum tells), or of another file.
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
            cure="The file may have moved; take it from a folder that has it: --from FOLDER.",
        ) from error


def _read(response: http.client.HTTPResponse) -> bytes:
    # Told apart from a full disk, which is an OSError too.
    try:
        return response.read(CHUNK)
    except (http.client.HTTPException, OSError) as error:
        raise _InterruptedTransferError(str(error) or type(error).__name__) from error


def _file_sha256(path: Path) -> str:
    with explained_disk(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unreachable(url: str, reason: str) -> ManyheadsError:
    return ManyheadsError(
        f"cannot be fetched: {reason}.",
        where=url,
        cure="Check the network and try again, or take the files from a folder that has them: --from FOLDER.",
    )


def _mismatch(where: str, expected: str, actual: str) -> ManyheadsError:
    return ManyheadsError(
        f"is not the file of the catalogue: its sha256 is {actual}, expected {expected}. It was not kept.",
        where=where,
        cure="The public file may have changed; take the right one from a folder that has it: --from FOLDER.",
    )


def _fetch_into(target: Path, file: DataFile, corpus: Corpus, progress: FileProgress | None) -> None:
    if file.url is None:
        note = f" {corpus.note}" if corpus.note else ""
        raise ManyheadsError(
            f"{corpus.name} has no exact public address (published by: {corpus.homepage}).{note}",
            cure=f"Take it from a folder that has it: manyheads data get {corpus.name} --from FOLDER",
        )
    report = partial(progress, file.path) if progress is not None else None
    arrived = target.with_name(target.name + ".download")
    fetch(file.url, arrived, sha256=file.fetched_sha256, progress=report)
    try:
        _install(arrived, file, target, where=file.url)
    finally:
        arrived.unlink(missing_ok=True)


def _find_in(source: Path, file: DataFile) -> Path:
    """Return the file in a user's folder: by the end of its path, packed or plain, or as the public archive."""
    parts = PurePosixPath(file.path).parts
    ends = ["/".join(parts[place:]) for place in range(len(parts))]  # s/raw/x.gz, raw/x.gz, x.gz
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
    """Give the raw file the form of the data folder, verify it, and put it in its place at once."""
    with explained_disk(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            packed = Path(scratch) / target.name
            _pack(raw, file, packed)
            try:
                actual = content_sha256(packed, archive=file.is_archive)
            except ManyheadsError as error:
                raise ManyheadsError(error.what, where=where or str(raw), cure="Get it once more.") from error
            if actual != file.content_sha256:
                raise _mismatch(where or str(raw), file.content_sha256, actual)
            packed.replace(target)


def _pack(raw: Path, file: DataFile, packed: Path) -> None:
    zipped, gzipped = starts_with(raw, ZIP_MAGIC), starts_with(raw, GZIP_MAGIC)
    foreign_archive = zipped or (gzipped and file.is_archive and not is_right(raw, file))
    if foreign_archive and file.member is not None:
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
    # No name and no time in the header: the same content gives the same file.
    with plain.open("rb") as source, packed.open("wb") as out:
        with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as stream:
            shutil.copyfileobj(source, stream, CHUNK)
        out.flush()
        os.fsync(out.fileno())


def _pack_folder(folder: Path, file: DataFile, packed: Path) -> None:
    archive = packed.with_name("folder.tar")
    with tarfile.open(archive, "w") as tar:
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name not in file.leave_out:
                entry = tarfile.TarInfo(f"{file.folder or folder.name}/{path.name}")
                entry.size = path.stat().st_size
                with path.open("rb") as content:
                    tar.addfile(entry, content)
    _compress(archive, packed)
