"""Freed memory is there for later blocks of its size, until it is returned."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import torch
from manyheads.memory import keep_freed_memory

def pages_of_a_block():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = torch.ones(25_000_000)  # 100 MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

torch.set_num_threads(1)
keep_freed_memory()
print(min(pages_of_a_block() for _ in range(10)))  # not the very next one, where something small came to lie between
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to")
def test_a_large_block_has_the_pages_of_an_earlier_one():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10


RETURNED = """
from pathlib import Path
from manyheads.memory import keep_freed_memory, return_freed_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

keep_freed_memory()
blocks = [bytearray(b"x") * 100_000 for _ in range(1000)]
full = resident()
del blocks
kept = resident()
return_freed_memory()
print(full, kept, resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to")
def test_freed_memory_is_kept_until_it_is_returned():
    done = subprocess.run([sys.executable, "-c", RETURNED], capture_output=True, text=True, check=True)
    full, kept, returned = map(int, done.stdout.split())
    assert kept > 0.9 * full
    assert returned < 0.5 * full
