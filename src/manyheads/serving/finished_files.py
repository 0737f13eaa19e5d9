"""Translated files that wait to be fetched, in memory, by names that cannot be guessed."""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import NamedTuple

MOST_KEPT = 1 << 27  # bytes of all files
LONGEST_NAME = 100  # characters of it that are kept
_UNSAFE = re.compile(r"[^\w.-]", re.ASCII)


class FinishedFile(NamedTuple):
    """A translated file: the name that it has for its user, and its content."""

    name: str
    content: bytes


class FinishedFiles:
    """Keeps files for some time; of too many, the oldest are deleted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._files: dict[str, FinishedFile] = {}  # oldest first

    def add(self, name: str, content: bytes) -> str:
        """Keep a file, and return the name under which it can be fetched."""
        safe = _UNSAFE.sub("_", name)[-LONGEST_NAME:]
        key = f"{secrets.token_urlsafe(24)}.{safe}"
        self._files[key] = FinishedFile(safe, content)
        while len(self._files) > 1 and sum(len(file.content) for file in self._files.values()) > MOST_KEPT:
            del self._files[next(iter(self._files))]
        asyncio.get_running_loop().call_later(self._seconds, self._files.pop, key, None)
        return key

    def find(self, key: str) -> FinishedFile | None:
        """Return the file of this name; None if there is none, or not any more."""
        return self._files.get(key)
