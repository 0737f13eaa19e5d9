"""What attention costs as sequences grow: full, and every mechanism that is meant to be cheaper.

    python benchmarks/attention_cost.py [--longest 16384] [--rounds 3] [--python PYTHON] [--picture FILE]

One encoder layer (width 256, 4 heads, feed-forward 1,024, batch 1), forward and backward, from 1,024 to 16,384
positions, and forward alone at 32,768; in turns, medians over the rounds. Each point is a process of its own, so its
peak of memory is its alone. Exponents are fitted to the logarithms: 1 is linear, 2 is quadratic. Beside it, attention
alone with its projections against the same mechanism in other libraries; those that PYTHON does not have are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "contenders"))
from attention_worker import LONGEST, OURS, PEERS  # noqa: E402

WORKER = HERE / "contenders" / "attention_worker.py"
SHORTEST, DENSE_LIMIT = 1024, 8192  # positions; beyond the second, full attention with weights is extrapolated
PEER_LENGTH = 4096


def measured(python: str, name: str, length: int, *, backward: bool = True) -> dict[str, Any] | None:
    """Measure one point in a process of its own; None where it cannot be."""
    words = [python, str(WORKER), name, str(length), *([] if backward else ["forward"])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode:
        print(f"{name} at {length:,}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    point: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return point


def several(python: str, names: list[str], length: int, rounds: int, *, backward: bool = True) -> dict[str, Any]:
    """Measure several at one length in turns; return each one's median seconds, least memory and FLOPs."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            if (point := measured(python, name, length, backward=backward)) is not None:
                found[name].append(point)
                print(f"{name} at {length:,}: {point['seconds']:.3f} s", file=sys.stderr)
    return {
        name: {
            "seconds": statistics.median(one["seconds"] for one in points),
            "peak_bytes": min(one["peak_bytes"] for one in points),
            "flops": points[0]["flops"],
        }
        for name, points in found.items()
        if points
    }


def exponent(lengths: list[int], values: list[float]) -> float:
    """Return the p of the power law n^p that fits best."""
    across, up = [math.log(one) for one in lengths], [math.log(one) for one in values]
    middle, height = statistics.mean(across), statistics.mean(up)
    return sum((a - middle) * (u - height) for a, u in zip(across, up, strict=True)) / sum(
        (a - middle) ** 2 for a in across
    )


def grown(python: str, longest: int, rounds: int) -> dict[str, dict[int, Any]]:
    """Measure our layers at every length."""
    curves: dict[str, dict[int, Any]] = {name: {} for name in OURS}
    length = SHORTEST
    while length <= longest:
        names = [name for name in OURS if name != "full with weights" or length <= DENSE_LIMIT]
        for name, point in several(python, [f"layer: {one}" for one in names], length, rounds).items():
            curves[name.removeprefix("layer: ")][length] = point
        length *= 2
    return curves


def summary(curves: dict[str, dict[int, Any]], longest: int) -> list[dict[str, Any]]:
    """Return a row for each mechanism: exponents, and how it compares with full attention at the longest."""
    full = curves["full"][longest]
    dense = curves["full with weights"]
    last = max(dense)
    dense_bytes = dense[last]["peak_bytes"] * (longest / last) ** 2
    rows = []
    for name, points in curves.items():
        lengths = sorted(points)
        end, complete = points[lengths[-1]], lengths[-1] == longest
        rows.append(
            {
                "mechanism": name,
                "seconds": {str(length): points[length]["seconds"] for length in lengths},
                "peak_mib": {str(length): points[length]["peak_bytes"] >> 20 for length in lengths},
                "time_exponent": round(exponent(lengths, [points[one]["seconds"] for one in lengths]), 2),
                "flops_exponent": round(exponent(lengths, [points[one]["flops"] for one in lengths]), 2),
                "times_faster_than_full": round(full["seconds"] / end["seconds"], 2) if complete else None,
                "of_dense_memory": round(end["peak_bytes"] / dense_bytes, 4) if complete else None,
            }
        )
    return rows


def table(rows: list[dict[str, Any]], peers: list[dict[str, Any]], longest: int) -> str:
    """Return both results as Markdown."""
    lines = [
        f"| layer | seconds at {SHORTEST:,} | at {longest:,} | exponent of time | of FLOPs | × full, fused "
        "| memory, of full with weights (extrapolated) |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        times = row["seconds"]
        at_end = f"{times[str(longest)]:.3f}" if str(longest) in times else "–"
        faster = "–" if row["times_faster_than_full"] is None else f"{row['times_faster_than_full']:.1f}"
        memory = "–" if row["of_dense_memory"] is None else f"{row['of_dense_memory']:.1%}"
        lines.append(
            f"| {row['mechanism']} | {times[str(SHORTEST)]:.3f} | {at_end} | {row['time_exponent']:.2f} "
            f"| {row['flops_exponent']:.2f} | {faster} | {memory} |"
        )
    lines += ["", f"| attention alone, {PEER_LENGTH:,} positions | seconds | ours | × |", "|---|---|---|---|"]
    lines += [f"| {row['peer']} | {row['seconds']:.3f} | {row['ours']:.3f} | {row['times']:.2f} |" for row in peers]
    return "\n".join(lines)


def against_peers(python: str, rounds: int) -> list[dict[str, Any]]:
    """Measure attention alone, each library beside ours."""
    rows = []
    for peer, (kind, _) in PEERS.items():
        both = several(python, [peer, f"attention: {kind}"], PEER_LENGTH, rounds)
        if peer in both:
            theirs, ours = both[peer]["seconds"], both[f"attention: {kind}"]["seconds"]
            rows.append({"peer": peer, "seconds": theirs, "ours": ours, "times": theirs / ours})
    return rows


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    """Draw time and memory against length, both on logarithmic scales: a slope is an exponent."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for row in rows:
        style = {"color": "black", "linewidth": 2} if row["mechanism"] == "full" else {}
        style |= {"color": "gray", "linestyle": "--"} if row["mechanism"] == "full with weights" else {}
        for axis, figures in zip(axes, (row["seconds"], row["peak_mib"]), strict=True):
            axis.loglog([int(length) for length in figures], list(figures.values()), label=row["mechanism"], **style)
    for axis, title in zip(axes, ("seconds, forward and backward", "peak memory, MiB"), strict=True):
        lengths = [int(length) for length in rows[0]["seconds"]]
        axis.set(title=title, xlabel="positions", xticks=lengths, xticklabels=[f"{one:,}" for one in lengths])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.savefig(file, dpi=120)


def main() -> None:
    """Run the benchmark, print the tables, and write both forms of the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the other libraries too")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "attention_cost.json")
    parser.add_argument("--picture", type=Path, help="also draw the curves (needs matplotlib)")
    options = parser.parse_args()
    rows = summary(grown(options.python, options.longest, options.rounds), options.longest)
    peers = against_peers(options.python, options.rounds)
    cheap = [f"layer: {name}" for name in OURS if "full" not in name]
    forward = several(options.python, cheap, LONGEST, 1, backward=False)
    print(printed := table(rows, peers, options.longest))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    facts = {"machine": machine, "layers": rows, "forward_at_32768": forward, "peers": peers}
    options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    options.out.with_suffix(".md").write_text(printed + "\n", encoding="utf-8")
    if options.picture:
        draw(rows, options.picture)


if __name__ == "__main__":
    main()
