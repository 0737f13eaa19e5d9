"""The memory of this machine, and what is refused because it would not fit, before anything is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from manyheads.errors import ManyheadsError

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container
SUFFIXES = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def usable_memory() -> int | None:
    """Return the bytes of memory that this process may use at most; None if the system does not say."""
    found: list[int] = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in LIMITS:
        with suppress(OSError, ValueError):
            found.append(int(limit.read_text(encoding="ascii")))
    with suppress(ImportError, OSError, ValueError):
        import resource

        found += [limit for limit in resource.getrlimit(resource.RLIMIT_AS)[:1] if limit > 0]
    return min(found, default=None)


def require_memory(needed: int, what: str, *, where: str | None = None, cure: str) -> None:
    """Raise an error if something needs more memory than this machine has."""
    there = usable_memory()
    if there is not None and needed > there:
        raise ManyheadsError(
            f"{what} would take {as_bytes(needed)} of memory, and this machine has {as_bytes(there)}.",
            where=where,
            cure=cure,
        )


def as_bytes(count: int) -> str:
    """Return a number of bytes for people, such as 2.5 GB."""
    power = 0
    while power < len(SUFFIXES) - 1 and count >= 1000 ** (power + 1):
        power += 1
    return f"{count:,} B" if power == 0 else f"{count / 1000**power:,.1f} {SUFFIXES[power]}"
