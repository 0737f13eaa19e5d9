"""A million lines through `manyheads translate < in > out`: the memory it takes, and whether each comes out in order.

    python benchmarks/million_lines.py RUN [--lines 1000000]

The run has learned to copy (recipes/copy.yaml), so the order can be seen in the output: each line must be the one that
went in, but for the few that the model gets wrong, and these are compared with the translation of the line alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LOOKED_AT = 200  # lines that came out otherwise, translated again alone


def write_lines(path: Path, count: int) -> None:
    """Write random lines of two to eight letters, every thousandth empty."""
    drawn = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            letters = drawn.choices("abcdefgh", k=drawn.randint(2, 8))
            file.write("\n" if number % 1000 == 999 else " ".join(letters) + "\n")


def resident(process: int) -> int:
    """Return the bytes of memory that a process has."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def translated(run: Path, source: Path, out: Path) -> dict[str, Any]:
    """Translate a file; return the time it took and the memory over time."""
    command = [sys.executable, "-m", "manyheads", "translate", "--model", str(run), "--beam", "1"]
    samples: list[int] = []
    begin = time.perf_counter()
    with source.open("rb") as reading, out.open("wb") as writing:
        process = subprocess.Popen(command, stdin=reading, stdout=writing)
        while process.poll() is None:
            samples.append(resident(process.pid))
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                continue
    samples = [sample for sample in samples if sample]
    settled = samples[len(samples) // 10 :]  # after loading
    return {
        "status": process.returncode,
        "seconds": round(time.perf_counter() - begin, 1),
        "first_tenth_mib": samples[len(samples) // 10] >> 20,
        "highest_mib": max(settled) >> 20,
        "last_mib": settled[-1] >> 20,
    }


def compared(run: Path, source: Path, out: Path) -> dict[str, Any]:
    """Compare what went in with what came out."""
    from manyheads import Translator

    with source.open(encoding="utf-8") as one, out.open(encoding="utf-8") as other:
        pairs = [(a.rstrip("\n"), b.rstrip("\n")) for a, b in zip(one, other, strict=True)]
    wrong = [(a, b) for a, b in pairs if a != b]
    some = random.Random(2).sample(wrong, min(LOOKED_AT, len(wrong)))
    again = Translator(run).translate([a for a, _ in some], beam=1, batch_sentences=1)
    return {
        "lines_out": len(pairs),
        "copied": len(pairs) - len(wrong),
        "others_looked_at": len(some),
        "others_as_alone": sum(b == c for (_, b), c in zip(some, again, strict=True)),
    }


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run of recipes/copy.yaml")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "million_lines.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source, out = Path(name) / "in", Path(name) / "out"
        write_lines(source, options.lines)
        facts = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "lines_in": options.lines,
            **translated(options.run, source, out),
            **compared(options.run, source, out),
        }
    print(json.dumps(facts, indent=2))
    options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
