"""Several processes that train one model, as torchrun starts them: their ranks, and reductions over their values.

With a single process every operation returns its argument or does nothing, so the trainer has one code path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

# Longer than any preparation or validation that the others wait for. A process that dies is noticed sooner: its
# connections close immediately, and torchrun ends the others.
PATIENCE = timedelta(hours=12)

_BROKEN = ("connection closed by peer", "connection reset by peer", "gloo", "nccl", "socket", "broken pipe")


@dataclass(frozen=True)
class World:
    """One of the processes that train together: its `rank` of `size`, and its rank on its own machine."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @classmethod
    def from_environment(cls, device: torch.device) -> World:
        """Return the rank that torchrun gave this process; without torchrun there is a single process.

        Each process of a machine uses its own GPU.
        """
        rank, size, local = (int(os.environ.get(name, "0")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
        if device.type == "cuda" and size > 1:
            device = torch.device("cuda", local)
        return cls(rank, max(1, size), local, device)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that reports, validates and writes."""
        return self.rank == 0

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Join the process group for the duration of the block."""
        if self.size == 1:
            yield
            return
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        backend = "nccl" if self.device.type == "cuda" else "gloo"
        dist.init_process_group(backend, store=_store(), rank=self.rank, world_size=self.size, timeout=PATIENCE)
        try:
            yield
        finally:
            dist.destroy_process_group()

    def wait(self) -> None:
        """Wait until every process has reached this point."""
        if self.size > 1:
            dist.barrier()

    def total(self, value: float) -> float:
        """Return the sum of every process's value."""
        return self._reduce(value, dist.ReduceOp.SUM)

    def largest(self, value: float) -> float:
        """Return the largest of the processes' values."""
        return self._reduce(value, dist.ReduceOp.MAX)

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the sum of every process's tensor."""
        if self.size == 1:
            return tensor
        shared = tensor.detach().clone()
        dist.all_reduce(shared)
        return shared

    def _reduce(self, value: float, operation: dist.ReduceOp.RedOpType) -> float:
        """Return the reduction of every process's value."""
        if self.size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(shared, operation)
        return float(shared)


def _store() -> Store:
    """Return the store through which the processes exchange their addresses.

    torchrun keeps one store through all restarts. So each attempt needs its own prefix; otherwise its processes would
    look for those that died.
    """
    store, _, _ = next(iter(rendezvous("env://", timeout=PATIENCE)))
    return PrefixStore(f"attempt-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def is_lost_peer(error: RuntimeError) -> bool:
    """Whether an error means that another process died, as far as the error of the backend shows."""
    if isinstance(error, dist.DistBackendError | dist.DistNetworkError):
        return True
    return any(sign in str(error).lower() for sign in _BROKEN)
