"""Whether bfloat16 products work on a processor that reports AMX, tried in a process of its own.

Some virtual machines report AMX but have no tiles: the first product kills the process with an illegal instruction.
Where AMX works, it is several times as fast as anything else the processor has, so it is tried instead of refused.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

from manyheads.processor import processor_flags

INSTRUCTIONS = "ONEDNN_MAX_CPU_ISA"  # the environment variable that limits the instructions which oneDNN uses
TIMEOUT = 60  # seconds; importing torch takes most of them on a cold disk

# What a training computes: linear layers of full and odd sizes, products of a batch of matrices, and their gradients.
_PRODUCTS = """
import torch
torch.set_num_threads(1)
torch.manual_seed(1)
for rows, width, columns in ((512, 256, 1024), (33, 96, 17), (1, 64, 64)):
    inputs = torch.randn(4, rows, width, requires_grad=True)
    weights = torch.randn(columns, width, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = torch.nn.functional.linear(inputs, weights)
        scores = outputs @ outputs.transpose(1, 2)
    scores.float().mean().backward()
    exact = torch.nn.functional.linear(inputs.bfloat16().float(), weights.bfloat16().float())
    assert torch.allclose(outputs.float(), exact, atol=0.5, rtol=0.02)
    assert inputs.grad.isfinite().all() and weights.grad.isfinite().all()
"""


def bfloat16_crashes(flags: set[str] | None = None, environment: Mapping[str, str] | None = None) -> bool:
    """Whether bfloat16 products would kill this process: it may use AMX, and another process that did so failed."""
    flags = processor_flags() if flags is None else flags
    environment = os.environ if environment is None else environment
    limit = environment.get(INSTRUCTIONS, "").upper()
    limited = limit not in ("", "ALL", "DEFAULT") and "AMX" not in limit
    return "amx_bf16" in flags and not limited and not products_work()


@cache
def products_work() -> bool:
    """Compute bfloat16 products in another process, and return whether it survives with the right results."""
    try:
        finished = subprocess.run([sys.executable, "-c", _PRODUCTS], capture_output=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return finished.returncode == 0
