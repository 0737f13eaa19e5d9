"""The checksums of a run's own files (`checksums.json`), so that none of them changes unnoticed.

Covered are the weights, `config.json`, the tokenizer, `held_out.json` and `inputs.json`. Before a covered file is
replaced, the checksum of its new content is added to that of the old, and after that the old one is removed; so a
process may be killed at any moment. A folder without `checksums.json` is one of version 0.1.0, or was put together by
hand, and is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from manyheads.bounded.files import MOST_SETTINGS, read_bytes
from manyheads.bounded.json_text import parse_settings
from manyheads.errors import ManyheadsError
from manyheads.processor import usable_cores
from manyheads.runs.atomic import write_file

FILE = "checksums.json"
VERSION = 1
PART = 1 << 22  # bytes
BLOCK = 1 << 18  # bytes of a file that are read at once: they stay in the processor's cache until they are hashed
THREADS = 4
WEIGHTS, CONFIG, HELD_OUT, INPUTS, TOKENIZER = (
    "model.safetensors",
    "config.json",
    "held_out.json",
    "inputs.json",
    "tokenizer",
)

Sums = dict[str, list[str]]
"""The checksums that each file may have: one, or two while it is replaced."""


def checksum(content: bytes) -> str:
    """Return the checksum of a content: the hash of the hashes of its parts, which are computed side by side.

    BLAKE2b takes about half the time of SHA-256 where a processor has no instructions for the latter.
    """
    view = memoryview(content)
    return _combined(lambda begin: _hash(view[begin : begin + PART]), len(view))


def checksum_of(path: Path) -> str | None:
    """Return the checksum of a file; None if it cannot be read, or is a pipe or a device, which may have no end.

    The content is never in memory as a whole, since new memory costs more than reading.
    """
    try:
        status = path.stat()
        return _combined(partial(_hash_part, path), status.st_size) if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None


def read_checksums(folder: Path) -> Sums | None:
    """Return the checksums of a run's files; None if it has none. If they are damaged, it is an error."""
    path = folder / FILE
    try:
        content = parse_settings(read_bytes(path, most=MOST_SETTINGS))
        sums = content["files"]
        if content["checksum"] != _digest(sums):
            raise ValueError("they were changed")
        return {str(name): [str(one) for one in some] for name, some in sums.items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ManyheadsError):
        raise ManyheadsError("the checksums of this run are damaged.", where=str(path)) from None


def write_checksums(folder: Path, sums: Sums) -> None:
    """Write the checksums of a run's files."""
    ordered = {name: sums[name] for name in sorted(sums)}
    content: dict[str, Any] = {"version": VERSION, "files": ordered, "checksum": _digest(ordered)}
    write_file(folder / FILE, json.dumps(content, indent=2) + "\n")


def cover(folder: Path) -> None:
    """Record the checksums of the files that are there, if none were recorded; from then on they are kept."""
    if not (folder / FILE).exists():
        names = (WEIGHTS, CONFIG, HELD_OUT, INPUTS, *tokenizer_files(folder))
        found = {name: checksum_of(folder / name) for name in names}
        write_checksums(folder, {name: [one] for name, one in found.items() if one is not None})


def tokenizer_files(folder: Path) -> list[str]:
    """Return the names of a run's tokenizer files."""
    return [f"{TOKENIZER}/{path.name}" for path in sorted((folder / TOKENIZER).glob("*")) if path.is_file()]


@contextmanager
def covered(folder: Path, contents: Mapping[str, bytes]) -> Iterator[None]:
    """Keep the checksums right while the block writes contents, by name, into a folder that has checksums."""
    sums = read_checksums(folder)
    if sums is None:
        yield
        return
    new = {name: [checksum(content)] for name, content in contents.items()}
    replaced = {name: [*sums[name], *one] for name, one in new.items() if name in sums and sums[name] != one}
    if replaced:
        write_checksums(folder, {**sums, **replaced})
    yield
    if sums != {**sums, **new}:
        write_checksums(folder, {**sums, **new})


def forget(folder: Path, *names: str) -> None:
    """Remove the checksums of files, or of all files in folders of these names."""
    sums = read_checksums(folder)
    kept = {name: one for name, one in (sums or {}).items() if name.split("/")[0] not in names}
    if sums is not None and kept != sums:
        write_checksums(folder, kept)


def _combined(hash_at: Callable[[int], bytes], size: int) -> str:
    """Return the hash of the hashes of parts, each given by where it begins; hashing lets other threads run."""
    begins = range(0, size, PART)
    workers = min(len(begins), usable_cores(), THREADS)
    if workers < 2:
        hashes = [hash_at(begin) for begin in begins]
    else:
        from concurrent.futures import ThreadPoolExecutor  # small files, and one core, do not need it

        with ThreadPoolExecutor(max_workers=workers) as threads:
            hashes = list(threads.map(hash_at, begins))
    return _hash(b"".join(hashes)).hex()


def _hash(content: bytes | memoryview) -> bytes:
    """Return the hash of a part."""
    return hashlib.blake2b(content, digest_size=32).digest()


def _hash_part(path: Path, begin: int) -> bytes:
    """Return the hash of the part of a file that begins at a place."""
    digest, block, left = hashlib.blake2b(digest_size=32), memoryview(bytearray(BLOCK)), PART
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        while left and (count := file.readinto(block[: min(BLOCK, left)])):
            digest.update(block[:count])
            left -= count
    return digest.digest()


def _digest(sums: Sums) -> str:
    """Return a checksum of checksums."""
    return checksum(json.dumps(sums, sort_keys=True).encode())
