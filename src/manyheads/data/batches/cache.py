"""The cache of token ids. A store appears complete or not at all, is checked when it is opened, and can always be made
again.

A store is a folder of arrays with `store.json`: facts about it, the size and the checksum of each array, and a checksum
of these facts. The time of the empty file `used` is when it was last opened; what was not used for a month is removed.
A store that is being built is a draft, `.NAME.RANDOM.draft`, which its process holds locked; drafts of killed processes
are removed when the next store is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.bounded.files import MOST_RECORDS, read_bytes
from manyheads.bounded.json_text import parse_json
from manyheads.disk import sync
from manyheads.errors import ManyheadsError, Notice

try:
    import fcntl
except ImportError:  # Windows, which cannot lock a folder
    fcntl = None  # type: ignore[assignment]

FACTS, USED = "store.json", "used"
KINDS = {"store": "pairs", "text": "text"}  # the folders of the cache, and what they hold
DAYS = 30  # after which a store that was not used is removed
DAY = 86_400.0
SETTLED = 60.0  # seconds without a change after which a draft that no process has locked is abandoned

BLOCK = 1 << 16
HASHED = 1 << 26  # bytes of a file that are hashed at most: all of it, or blocks at equal distances


def cache_folder() -> Path:
    """Return where stores are kept: `MANYHEADS_CACHE`, or the user's cache folder."""
    base = os.environ.get("MANYHEADS_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyheads"


@dataclass(frozen=True)
class Entry:
    """A store in the cache: what it holds, where that came from, its bytes, and the seconds since it was used.

    `kind` is `pairs`, `text`, `draft` for one that is being built, or `other` for what earlier versions left.
    """

    path: Path
    kind: str
    origin: str
    bytes: int
    age: float


def entries() -> list[Entry]:
    """Return everything in the cache, the longest unused first."""
    found = [
        _entry(path, kind)
        for name, kind in KINDS.items()
        if (cache_folder() / name).is_dir()
        for path in (cache_folder() / name).iterdir()
    ]
    return sorted(found, key=lambda entry: -entry.age)


def clear() -> list[Entry]:
    """Remove everything but what other processes are building at this moment; return what was removed."""
    removed = [entry for entry in entries() if not _is_held(entry.path)]
    for entry in removed:
        _remove(entry.path)
    return removed


def remove_unused() -> None:
    """Remove stores that were not used for a month, and the drafts of killed processes."""
    for entry in entries():
        limit = SETTLED if entry.kind == "draft" else DAYS * DAY
        if entry.age > limit and not _is_held(entry.path):
            _remove(entry.path)


def stored_facts(folder: Path) -> dict[str, Any] | None:
    """Return the facts of a store, which is then marked as used; None if it is not there.

    A damaged store is removed with a notice, so that it can be built again.
    """
    remove_unused()
    if not folder.exists():
        return None
    try:
        facts = _checked(folder)
    except _DamagedError as error:
        warnings.warn(f"{error}: this part of the token store is damaged, so the store is built again.", Notice, 2)
        _remove(folder)
        return None
    with suppress(OSError):  # the cache of another user may be read
        (folder / USED).touch()
    return facts


@contextmanager
def new_store(folder: Path) -> Iterator[Path]:
    """Yield an empty folder for arrays; it becomes the store if the block ends without an error.

    The block ends with `write_facts`. If another process was faster, its store stays.
    """
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}.draft")
    try:
        draft.mkdir(parents=True)
        with _held(draft):
            try:
                yield draft
                for path in (*draft.iterdir(), draft):
                    sync(path)
                if not folder.exists():
                    draft.rename(folder)
                    sync(folder.parent)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise ManyheadsError(
            f"the token store cannot be written: {error.strerror or error}.",
            where=str(folder.parent),
            cure="Make room, or point MANYHEADS_CACHE at another disk.",
        ) from None


def write_facts(draft: Path, facts: dict[str, Any]) -> None:
    """Write the facts about a store with the sizes and checksums of its arrays, which are complete."""
    files = {path.name: {"bytes": path.stat().st_size, "blake2b": _checksum(path)} for path in sorted(draft.iterdir())}
    content = {**facts, "files": files}
    content["checksum"] = _digest(content)
    (draft / FACTS).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (draft / USED).touch()


class _DamagedError(Exception):
    """A file of a store is not as it was written."""


def _checked(folder: Path) -> dict[str, Any]:
    """Return the facts of a store whose files are all as they were written."""
    try:
        facts = parse_json(read_bytes(folder / FACTS, most=MOST_RECORDS))
        files, stated = dict(facts["files"]), facts.pop("checksum")
        if stated != _digest(facts):
            raise _DamagedError(folder / FACTS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ManyheadsError):
        raise _DamagedError(folder / FACTS) from None
    for name, stated in files.items():
        path = folder / name
        with suppress(OSError):
            if path.stat().st_size == stated["bytes"] and _checksum(path) == stated["blake2b"]:
                continue
        raise _DamagedError(path)
    return dict(facts)


def _digest(facts: dict[str, Any]) -> str:
    """Return a checksum of facts."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=32).hexdigest()


def _checksum(path: Path) -> str:
    """Return a checksum of a file: of all its bytes or, of a large one, of blocks at equal distances and the end."""
    digest, size = hashlib.blake2b(digest_size=32), path.stat().st_size
    places = range(0, size, max(BLOCK, BLOCK * size // HASHED))
    with path.open("rb") as file:
        for place in (*places, max(0, size - BLOCK)):
            file.seek(place)
            digest.update(file.read(BLOCK))
    return digest.hexdigest()


def _entry(path: Path, kind: str) -> Entry:
    """Return what is known about something in the cache."""
    sizes, times = [0], [0.0]
    for file in (path, *path.rglob("*")):
        with suppress(OSError):  # it may be removed at this moment
            status = file.lstat()
            sizes.append(status.st_size if file.is_file() else 0)
            times.append(status.st_mtime)
    if path.name.startswith("."):
        kind = "draft"
    elif not (path / FACTS).exists():
        kind = "other"
    origin = ""
    with suppress(OSError, ValueError, TypeError, KeyError, ManyheadsError):
        origin = str(parse_json(read_bytes(path / FACTS, most=MOST_RECORDS))["origin"])
    return Entry(path, kind, origin, sum(sizes), max(0.0, time.time() - max(times)))


def _remove(path: Path) -> None:
    """Remove a store so that no part of it remains under its name, even if the process is killed meanwhile."""
    doomed = path.with_name(f".{path.name.lstrip('.')}.{secrets.token_hex(8)}.doomed")
    with suppress(OSError):
        path.rename(doomed)
    if doomed.is_dir():
        shutil.rmtree(doomed, ignore_errors=True)
    else:
        doomed.unlink(missing_ok=True)


@contextmanager
def _held(draft: Path) -> Iterator[None]:
    """Lock a draft for as long as this process builds it."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(draft, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _is_held(path: Path) -> bool:
    """Whether a process is building a draft."""
    if fcntl is None or not path.is_dir():
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
