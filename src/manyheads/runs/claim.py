"""One training to a run folder: two that write into the same one would overwrite each other's checkpoints."""

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
    """Keep a folder, made if need be, from other trainings; the system lets go of it however this process ends."""
    if fcntl is None or folder.is_file():  # whoever writes there says that it is a file
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
    """Lock an open folder, or say that another process has."""
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
