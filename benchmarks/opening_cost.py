"""What the checks of a run cost when it is opened: `translate` of one text by this code and by an earlier version.

    git worktree add ../before COMMIT
    python benchmarks/opening_cost.py RUN "a text" --before ../before [--rounds 20]

Each start is a process of its own, and both versions take turns, so that other work on the machine slows both. Time by
the clock and processor time (user and system) are measured; the medians of both, and of the ratio within a round,
are recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measured(source: Path, arguments: list[str]) -> tuple[float, float]:
    """Run a command with the package of a folder; return its seconds by the clock and of processor time."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "manyheads", *arguments],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"manyheads {' '.join(arguments)} ended with status {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("text")
    parser.add_argument("--before", type=Path, required=True, help="a work tree of the earlier version")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "opening_cost.json")
    options = parser.parse_args()
    arguments = ["translate", "--model", str(options.run), "--text", options.text]
    sources = {"before": options.before / "src", "now": HERE.parent / "src"}
    rounds: list[dict[str, tuple[float, float]]] = []
    for number in range(options.rounds + 1):  # the first one compiles and warms up
        names = list(sources) if number % 2 else list(reversed(sources))
        rounds.append({name: measured(sources[name].resolve(), arguments) for name in names})
        print(number, rounds[-1], file=sys.stderr)
    kinds = ("clock", "processor")
    facts = {
        "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} core(s), Python {platform.python_version()}",
        "bytes": (options.run / "model.safetensors").stat().st_size,
        "rounds": options.rounds,
        "load": round(os.getloadavg()[0], 2),
        "seconds": {
            name: {
                kind: round(statistics.median(one[name][i] for one in rounds[1:]), 4) for i, kind in enumerate(kinds)
            }
            for name in sources
        },
        "now_of_before": {
            kind: round(statistics.median(one["now"][i] / one["before"][i] for one in rounds[1:]), 4)
            for i, kind in enumerate(kinds)
        },
    }
    print(json.dumps(facts, indent=2))
    options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
