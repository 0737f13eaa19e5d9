"""How this process handles the memory that it frees."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's mallopt(3)
LARGEST = 2**31 - 1  # bytes


def keep_freed_memory() -> None:
    """Make the C library keep large freed blocks instead of returning them to the system.

    A training step needs blocks of the same sizes as the previous one. Blocks above 32 MB, as for long sequences, would
    be requested from the system each time, and the system clears every page: up to a quarter of the time of a step.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):  # not in every C library
        library.mallopt(MMAP_THRESHOLD, LARGEST)
        library.mallopt(TRIM_THRESHOLD, LARGEST)


def return_freed_memory() -> None:
    """Return the memory that is free by now to the system, once: what needed most of it is over."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):  # not in every C library
        library.malloc_trim(0)
