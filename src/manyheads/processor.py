"""The cores and instruction sets of this computer's processor."""

from __future__ import annotations

import os
import platform
from pathlib import Path

BYTE_PRODUCTS = {"avx512_vnni", "avx_vnni"}  # instructions that sum 8-bit products in 32 bits


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_flags(path: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Return the names of the instruction sets; an empty set if the system does not report them."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return set(next((line.split(":", 1)[1] for line in lines if line.startswith("flags")), "").split())


def sums_bytes_safely() -> bool:
    """Whether sums of 8-bit products cannot overflow: x86 without these instructions adds pairs of them in 16 bits."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    return not is_x86 or bool(BYTE_PRODUCTS & processor_flags())
