"""Freed memory is there for later blocks of its size."""

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
