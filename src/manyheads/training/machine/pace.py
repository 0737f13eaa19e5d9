"""How fast this machine trains a model: seconds per update, measured on the first batches of a prepared run.

A choice of threads and of precision is measured, not guessed: bfloat16 is several times slower on a processor without
instructions for it, and more threads are slower where other processes use the cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch

from manyheads.processor import processor_flags
from manyheads.tasks.interface import Task
from manyheads.training.learner import Learner
from manyheads.training.machine.bfloat16_probe import bfloat16_crashes
from manyheads.training.machine.distributed import World
from manyheads.training.machine.products import onednn_is_available

WARM_UP = 2  # updates that also load kernels and allocate memory
LEAST = 3  # updates that are measured, however slow they are
HALVINGS = 2  # numbers of threads that are measured below the largest one, each half of the one before
Clock = Callable[[], float]
Products = Literal["torch", "onednn"]


@dataclass(frozen=True)
class Pace:
    """The measured speed of updates on a number of threads in a precision."""

    threads: int
    precision: Literal["float32", "bfloat16"]
    products: Products
    seconds_per_update: float
    tokens_per_update: float
    flops_per_update: float

    @property
    def tokens_per_second(self) -> float:
        """Target tokens that are learned from in a second."""
        return self.tokens_per_update / self.seconds_per_update

    @property
    def flops_per_second(self) -> float:
        """FLOPs of the model in a second; 0 if they are not counted."""
        return self.flops_per_update / self.seconds_per_update

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'' if self.threads == 1 else 's'}"
        library = " by oneDNN" if self.products == "onednn" else ""
        return f"{self.tokens_per_second:,.0f} tokens/s in {self.precision}{library} on {threads}"


def measure_pace(
    task: Task[Any, Any],
    *,
    threads: int,
    precision: Literal["float32", "bfloat16"],
    products: Products,
    seconds: float,
    device: torch.device,
    clock: Clock = time.perf_counter,
) -> Pace:
    """Measure updates of a new model for a time. Nothing of the run changes: the model is thrown away."""
    settings = task.recipe.training.model_copy(
        update={"precision": precision, "products": products, "threads": threads}
    )
    measured = task.with_recipe(task.recipe.model_copy(update={"training": settings}))
    with _threads(threads):
        learner = Learner(measured, measured.same_model().to(device), World(device=device))
        learner.objective.train()
        batches, size = measured.batches_at(0), settings.accumulate

        def update(step: int) -> tuple[int, int]:
            """Take an update; return its target tokens and its FLOPs."""
            several = [batches[step * size + number] for number in range(size)]
            return learner.update(step, several).tokens, sum(map(learner.objective.flops, several))

        for step in range(WARM_UP):
            update(step)
        done: list[tuple[int, int]] = []
        begin = now = clock()
        while len(done) < LEAST or now - begin < seconds:
            done.append(update(WARM_UP + len(done)))
            now = clock()
        tokens, flops = (sum(each) / len(done) for each in zip(*done, strict=True))
        return Pace(threads, precision, products, (now - begin) / len(done), tokens, flops)


def fastest_pace(
    task: Task[Any, Any], *, threads: int, seconds: float, device: torch.device, tell: Callable[[str], None]
) -> Pace:
    """Measure what could be fastest here, and return the fastest; what the recipe sets is not changed."""
    paces = [
        measure_pace(task, threads=count, precision=precision, products=products, seconds=seconds, device=device)
        for precision in _precisions(task, device)
        for products in _products(task, precision, device)
        for count in _thread_counts(task, threads, device)
    ]
    best = max(paces, key=lambda pace: pace.tokens_per_second)
    if len(paces) > 1:
        tell(f"Measured: {'; '.join(str(pace) for pace in sorted(paces, key=_speed, reverse=True))}.")
    return best


def _speed(pace: Pace) -> float:
    """Return the speed by which paces are ordered."""
    return pace.tokens_per_second


def _precisions(task: Task[Any, Any], device: torch.device) -> Iterator[Literal["float32", "bfloat16"]]:
    """Yield the precisions to measure: the recipe's, or every one that this device can compute in."""
    wanted = task.recipe.training.precision
    if wanted != "auto":
        yield wanted
        return
    yield "float32"
    if device.type == "cpu" and {"avx512_bf16", "amx_bf16"} & processor_flags() and not bfloat16_crashes():
        yield "bfloat16"
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        yield "bfloat16"


def _products(task: Task[Any, Any], precision: str, device: torch.device) -> tuple[Products, ...]:
    """Return the libraries of matrix products to measure: the recipe's, and oneDNN where there is a choice."""
    given: Products = task.recipe.training.products
    if given != "torch" or precision != "float32" or device.type != "cpu" or not onednn_is_available():
        return (given,)
    return ("torch", "onednn")


def _thread_counts(task: Task[Any, Any], most: int, device: torch.device) -> list[int]:
    """Return the numbers of threads to measure: the recipe's, or the most there may be, half of it and so on."""
    if task.recipe.training.threads or device.type != "cpu":
        return [most]
    return [count for power in range(HALVINGS + 1) if (count := most >> power)]


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Compute with a number of threads for the duration of the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
