"""The peak speed of a machine: the FLOPs per second of a large matrix product, measured."""

from __future__ import annotations

import time

import torch

# With few threads, matrices that fit into the caches are fastest; many threads need larger ones.
SIZES = {"cpu": (512, 1024), "cuda": (4096,), "mps": (2048,)}


def matrix_product_peak(
    device: torch.device | None = None, *, dtype: torch.dtype = torch.float32, seconds: float = 0.25
) -> float:
    """Measure the FLOPs per second of square matrix products on a device (by default the CPU), with all its threads.

    The fastest product within the given time is used: other work on the machine can only make a product slower.
    """
    device = device or torch.device("cpu")
    sizes = SIZES.get(device.type, SIZES["cpu"])
    return max(_peak(device, dtype, size, seconds / len(sizes)) for size in sizes)


def _peak(device: torch.device, dtype: torch.dtype, size: int, seconds: float) -> float:
    """Measure products of one size, at least one even if the time is short."""
    # A separate generator leaves the run's random state unchanged. Zeros would be faster on some chips.
    numbers = torch.Generator().manual_seed(1)
    left, right = (torch.rand(size, size, generator=numbers).to(device, dtype) for _ in range(2))
    _seconds_of_product(left, right)  # the first one also loads the kernel
    end = time.perf_counter() + seconds
    fastest = _seconds_of_product(left, right)
    while time.perf_counter() < end:
        fastest = min(fastest, _seconds_of_product(left, right))
    return 2 * size**3 / fastest


def _seconds_of_product(left: torch.Tensor, right: torch.Tensor) -> float:
    """Return how long one product takes, from start until the device has finished."""
    begin = time.perf_counter()
    left @ right
    if left.device.type == "cuda":
        torch.cuda.synchronize(left.device)
    elif left.device.type == "mps":
        torch.mps.synchronize()
    return time.perf_counter() - begin
