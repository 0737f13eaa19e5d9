"""How this process handles the memory that it frees."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers that glibc's mallopt(3) has for them
LARGEST = 2**31 - 1  # bytes


def keep_freed_memory() -> None:
    """Let the C library keep large blocks instead of giving them back to the system.

    A training step needs blocks of the same sizes as the one before. Those above 32 MB, which are those of long
    sequences, would come from the system each time, and it clears every page: up to a quarter of a step.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):  # not in every C library
        library.mallopt(MMAP_THRESHOLD, LARGEST)
        library.mallopt(TRIM_THRESHOLD, LARGEST)
