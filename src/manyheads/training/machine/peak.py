"""The fastest a machine computes: the FLOPs per second of a large matrix product, measured."""

from __future__ import annotations

import time

import torch

# Few threads are fastest while the matrices fit into their caches, many only when there is enough for each.
SIZES = {"cpu": (512, 1024), "cuda": (4096,), "mps": (2048,)}


def matrix_product_peak(
    device: torch.device | None = None, *, dtype: torch.dtype = torch.float32, seconds: float = 0.25
) -> float:
    """Measure the FLOPs per second of square matrix products on a device (the processor), with the threads it has.

    The fastest product within the given time counts: whatever else the machine does can only make one slower.
    """
    device = device or torch.device("cpu")
    sizes = SIZES.get(device.type, SIZES["cpu"])
    return max(_peak(device, dtype, size, seconds / len(sizes)) for size in sizes)


def _peak(device: torch.device, dtype: torch.dtype, size: int, seconds: float) -> float:
    """Measure products of one size; at least one, whatever the time."""
    # Numbers of their own, so that those of the run's seed are not used up; not zeros, which some chips do faster.
    numbers = torch.Generator().manual_seed(1)
    left, right = (torch.rand(size, size, generator=numbers).to(device, dtype) for _ in range(2))
    _seconds_of_product(left, right)  # the first one also loads the kernel
    end = time.perf_counter() + seconds
    fastest = _seconds_of_product(left, right)
    while time.perf_counter() < end:
        fastest = min(fastest, _seconds_of_product(left, right))
    return 2 * size**3 / fastest


def _seconds_of_product(left: torch.Tensor, right: torch.Tensor) -> float:
    """Return how long one product takes, its end awaited."""
    begin = time.perf_counter()
    left @ right
    if left.device.type == "cuda":
        torch.cuda.synchronize(left.device)
    elif left.device.type == "mps":
        torch.mps.synchronize()
    return time.perf_counter() - begin
