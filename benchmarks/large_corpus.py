"""A corpus that does not fit into memory: ten million pairs, tokenised, shuffled, trained on and sought through.

    python benchmarks/large_corpus.py [--pairs 10000000] [--threads 2]

The pairs are written to two text files first (a generated task, so that nothing need be fetched), and then the real
command trains on them: it tokenises them into a store and takes its first step. A second process opens the finished
store and asks for the batch in the middle of the run. Measured are the largest resident memory of each and the time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECIPE = """
name: large
data:
  train: {{source: {folder}/source.txt, target: {folder}/target.txt}}
  valid: {{task: copy, count: 100}}
tokenizer: {{kind: symbols}}
model: {{preset: tiny}}
training: {{steps: 1, batch_tokens: 4096, threads: {threads}}}
validation: {{every: 1, metric: loss, samples: 0}}
"""


def write_corpus(folder: Path, pairs: int) -> None:
    """Write two text files of generated pairs."""
    from manyheads.data.generated import task

    with (folder / "source.txt").open("w") as source, (folder / "target.txt").open("w") as target:
        for pair in task("copy").pairs("train", count=pairs, seed=1):
            source.write(pair.source + "\n")
            target.write(pair.target + "\n")


def run(words: list[str], environment: dict[str, str]) -> tuple[str, float, int]:
    """Run a process; return what it printed, how long it took and its largest resident memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return printed, time.perf_counter() - begin, used.ru_maxrss * 1024


def seek(recipe: Path, run_folder: Path) -> dict[str, float]:
    """Open a run's data as a resumed training does, and ask for the batch in the middle of the first epoch."""
    from manyheads.config.reading import load_recipe_for
    from manyheads.config.tasks.translation import TranslationRecipe
    from manyheads.runs.folder import RunFolder
    from manyheads.tasks.interface import Machine
    from manyheads.tasks.translation import TranslationTask

    begin = time.perf_counter()
    parts = TranslationTask.prepare(
        load_recipe_for(TranslationRecipe, recipe), RunFolder(run_folder), Machine(is_first=False), lambda text: None
    )
    opened = time.perf_counter()
    parts.stages[0][parts.batches.per_epoch // 2]
    sought = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "pairs": len(parts.store),
        "batches_per_epoch": parts.stages[0].per_epoch,
        "open_seconds": opened - begin,
        "seek_seconds": sought - opened,
        "seek_peak_bytes": peak,
    }


def main() -> None:
    """Run the benchmark, print what was found and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "large_corpus.json")
    parser.add_argument("--seek", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seek:
        print(json.dumps(seek(*options.seek)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, options.pairs)
        recipe = folder / "recipe.yaml"
        recipe.write_text(RECIPE.format(folder=folder, threads=options.threads), encoding="utf-8")
        environment = {**os.environ, "MANYHEADS_CACHE": str(folder / "cache")}
        train = [sys.executable, "-m", "manyheads", "train", str(recipe), "--out", str(folder / "run")]
        _, seconds, peak = run([*train, "--device", "cpu"], environment)
        again, _, _ = run([sys.executable, __file__, "--seek", str(recipe), str(folder / "run")], environment)
    found: dict[str, Any] = {"first_step_seconds": seconds, "first_step_peak_bytes": peak, **json.loads(again)}
    print(
        f"{found['pairs']:,} pairs: store built and first step taken in {seconds:,.0f} s "
        f"({options.pairs / seconds:,.0f} pairs/s) with {peak / 2**20:,.0f} MiB resident at most; "
        f"opened again in {found['open_seconds']:.1f} s, batch in the middle in {found['seek_seconds']:.3f} s, "
        f"with {found['seek_peak_bytes'] / 2**20:,.0f} MiB"
    )
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
