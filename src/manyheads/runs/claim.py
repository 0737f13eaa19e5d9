"""One training process per run folder: two would overwrite each other's checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import explained

try:
    import fcntl
except ImportError:  # Windows, which cannot lock a folder
    fcntl = None  # type: ignore[assignment]


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Lock a folder, created if necessary, against other training runs; the lock ends with this process."""
    if fcntl is None or folder.is_file():  # writing into a file reports the error
        yield
        return
    made = not folder.exists()
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)
        if made:
            with suppress(OSError):
                folder.rmdir()  # only if nothing was written


def _lock(descriptor: int, folder: Path) -> None:
    """Lock an open folder; raise an error if another process holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ManyheadsError(
            "another training is writing into this folder.",
            where=str(folder),
            cure="Let it end (Ctrl-C saves first), or choose another with --out.",
        ) from None
    except OSError:
        pass  # some file systems have no locks
