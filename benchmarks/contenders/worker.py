"""One contender of the training benchmark, in a process (and, for JoeyNMT, a virtual environment) of its own.

    python worker.py CONTENDER BATCHES.npz THREADS

It answers one JSON line per line it is told: `train N` takes N more updates, `evaluate` measures the loss on unseen
batches. It imports nothing of Manyheads unless that is the contender.
"""

from __future__ import annotations

import importlib
import json
import math
import resource
import sys
import time
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

WIDTH, HEADS, LAYERS, FEED_FORWARD, DROPOUT, SMOOTHING = 128, 4, 4, 256, 0.3, 0.1
PAD, START, END = 0, 2, 3
PEAK_RATE, WARMUP, BETAS, EPSILON = 0.005, 2000, (0.9, 0.98), 1e-9


class Contender(Protocol):
    """What is measured: a model with its own loss, as its toolkit would train it."""

    model: torch.nn.Module

    def loss(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the label-smoothed loss per target token."""

    def negative_log_likelihood(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the summed negative log-likelihood without smoothing."""


def read_batches(path: Path) -> list[dict[str, torch.Tensor]]:
    """Read the batches that all contenders share."""
    arrays = np.load(path)
    count = int(arrays["count"])
    names = ("source", "source_lengths", "target_in", "target_out", "target_lengths")
    return [{name: torch.from_numpy(arrays[f"{i}.{name}"]) for name in names} for i in range(count)]


def rate(step: int) -> float:
    """Return the inverse-square-root schedule of the recipe."""
    return PEAK_RATE * min(step / WARMUP, math.sqrt(WARMUP / step))


def serve(contender: Contender, batches: list[dict[str, torch.Tensor]], held_out: int) -> None:
    """Answer the benchmark's requests until standard input ends."""
    training, unseen = batches[:-held_out], batches[-held_out:]
    optimiser = torch.optim.Adam(contender.model.parameters(), lr=0.0, betas=BETAS, eps=EPSILON, fused=True)
    if hasattr(contender, "optimiser"):
        optimiser = contender.optimiser()
    step = 0
    for request in sys.stdin:
        verb, *rest = request.split()
        begin, tokens, losses = time.perf_counter(), 0, []
        contender.model.train(verb == "train")
        if verb == "train":
            for _ in range(int(rest[0])):
                batch = training[step % len(training)]
                step += 1
                for group in optimiser.param_groups:
                    group["lr"] = rate(step)
                optimiser.zero_grad(set_to_none=True)
                loss = contender.loss(batch)
                loss.backward()
                optimiser.step()
                tokens += int(batch["target_lengths"].sum())
                losses.append(float(loss.detach()))
        else:
            with torch.no_grad():
                losses = [float(contender.negative_log_likelihood(batch)) for batch in unseen]
            tokens = sum(int(batch["target_lengths"].sum()) for batch in unseen)
        spent = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": spent, "tokens": tokens, "losses": losses, "peak_bytes": peak}), flush=True)


def main() -> None:
    """Build the contender that was named, and serve."""
    name, path, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    arrays = np.load(path)
    vocabulary, held_out = int(arrays["vocabulary"]), int(arrays["held_out"])
    batches = read_batches(Path(path))
    contender = importlib.import_module(f"{name}_contender").build(vocabulary)
    parameters = sum(parameter.numel() for parameter in contender.model.parameters())
    print(json.dumps({"parameters": parameters}), flush=True)
    serve(contender, batches, held_out)


if __name__ == "__main__":
    main()
