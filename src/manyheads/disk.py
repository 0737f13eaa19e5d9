"""Waiting until what was written is on the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until the content of a file, or the entries of a folder, are on the disk, if the system supports that."""
    with suppress(OSError):  # some systems cannot open folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
