"""Speed of training and of decoding with this code and with an earlier version, in turns: what a change costs.

    git worktree add ../before COMMIT
    python benchmarks/before_and_after.py --before ../before --run RUN --texts FILE [--rounds 8] [--parts 6]

Every round starts new processes of both versions, since speed depends on where a process lies in memory too. In a
round they take turns in parts of about half a second, so that other work on the machine slows both alike. A version's
speed in a round is the median over its parts, and its speed is the median over the rounds; the ratio is that of the
two. The workers are those of training_speed.py and decoding_speed.py, each version's own. RUN must be one that both
versions can open. Needs the corpus Multi30k (MANYHEADS_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from training_speed import write_batches
from worker_process import WorkerProcess

HERE = Path(__file__).resolve().parent
PART = 0.5  # seconds
UPDATES = 6
WAYS = {
    "greedy, one at a time": {"beam": 1, "batch": 1},
    "greedy, in batches": {"beam": 1, "batch": 128},
    "beam 4, one at a time": {"beam": 4, "batch": 1},
    "beam 4, in batches": {"beam": 4, "batch": 64},
}
Speeds = dict[str, dict[str, list[float]]]
"""Of each way: of each version, its speed in every round."""


class Worker(WorkerProcess):
    """A process of one version."""

    def __init__(self, code: Path, script: str, *arguments: str) -> None:
        command = [sys.executable, str(code / "benchmarks" / "contenders" / script), *arguments]
        super().__init__(command, {**os.environ, "PYTHONPATH": str(code / "src")}, quiet=True)


class Decoding:
    """Translates as many texts as take about half a second."""

    def __init__(self, worker: Worker, texts: list[str], way: dict[str, int]) -> None:
        self._worker, self._texts, self._way = worker, texts, way
        self.count = min(len(texts), max(way["batch"], 8))

    def fit(self) -> int:
        """Warm up, and return the number of texts that suits this version."""
        self.speed()
        return min(len(self._texts), max(self.count, round(self.speed() * PART)))

    def speed(self) -> float:
        """Return sentences per second of one part."""
        request = json.dumps({"texts": self._texts[: self.count], **self._way})
        return self.count / float(self._worker.ask(request)["seconds"])


class Training:
    """Takes some updates."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def speed(self) -> float:
        """Return target tokens per second of one part."""
        answer = self._worker.ask(f"train {UPDATES}")
        return float(answer["tokens"]) / float(answer["seconds"])


def in_turns(measured: dict[str, Training] | dict[str, Decoding], parts: int) -> dict[str, float]:
    """Return the median speed of each version, one part of each at a time."""
    speeds: dict[str, list[float]] = {version: [] for version in measured}
    for number in range(parts):
        for version in sorted(measured, reverse=bool(number % 2)):
            speeds[version].append(measured[version].speed())
    return {version: statistics.median(some) for version, some in speeds.items()}


def training_round(codes: dict[str, Path], batches: Path, parts: int, threads: int) -> dict[str, float]:
    """Return the speed of training of each version, in new processes."""
    workers = {name: Worker(code, "worker.py", "manyheads", str(batches), str(threads)) for name, code in codes.items()}
    training = {name: Training(worker) for name, worker in workers.items()}
    in_turns(training, 1)  # warms up
    speeds = in_turns(training, parts)
    for worker in workers.values():
        worker.close()
    return speeds


def decoding_round(codes: dict[str, Path], folder: Path, engine: str, texts: list[str], parts: int) -> dict[str, Any]:
    """Return the speed of every way of decoding of each version, in new processes."""
    found = {}
    workers = {
        name: Worker(code, "decoding_worker.py", "manyheads", str(folder), engine, "float32")
        for name, code in codes.items()
    }
    for way, settings in WAYS.items():
        decoding = {name: Decoding(worker, texts, settings) for name, worker in workers.items()}
        count = max(one.fit() for one in decoding.values())
        for one in decoding.values():
            one.count = count
        found[f"{way}, {engine}"] = in_turns(decoding, parts)
    for worker in workers.values():
        worker.close()
    return found


def table(rounds: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Return of each way the median speeds, their ratio, and the ratio in each round."""
    rows = {}
    for way in rounds[0]:
        before, now = ([one[way][version] for one in rounds] for version in ("before", "now"))
        rows[way] = {
            "before": round(statistics.median(before), 1),
            "now": round(statistics.median(now), 1),
            "now_of_before": round(statistics.median(now) / statistics.median(before), 3),
            "rounds": [round(new / old, 3) for old, new in zip(before, now, strict=True)],
        }
    return rows


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a work tree of the earlier version")
    parser.add_argument("--run", type=Path, required=True, help="a run folder that both versions can open")
    parser.add_argument("--texts", type=Path, required=True, help="sources, one per line")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "before_and_after.json")
    options = parser.parse_args()
    codes = {"before": options.before.resolve(), "now": HERE.parent}
    texts = options.texts.read_text(encoding="utf-8").splitlines()
    threads = len(os.sched_getaffinity(0))
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        batches, folder = Path(name) / "batches.npz", Path(name)
        (folder / "run").symlink_to(options.run.resolve())
        write_batches(batches)
        for number in range(1, options.rounds + 1):
            measured = {"training": training_round(codes, batches, options.parts, threads)}
            for engine in ("auto", "torch"):
                measured |= decoding_round(codes, folder, engine, texts, options.parts)
            rounds.append(measured)
            print(number, json.dumps(measured), file=sys.stderr)
    rows = table(rounds)
    for way, row in rows.items():
        print(f"{way:30} {row['before']:9,.1f} → {row['now']:9,.1f}  {row['now_of_before']:.3f}  {row['rounds']}")
    facts = {"machine": f"{platform.machine()}, {threads} threads, Python {platform.python_version()}", "ways": rows}
    options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
