"""Training speed, side by side: Manyheads, JoeyNMT, a `torch.nn.Transformer` loop and Hugging Face's MarianMTModel.

    python benchmarks/training_speed.py [--rounds 6] [--updates 12] [--threads 2]

Each contender trains the model of recipes/multi30k-tiny.yaml on identical batches of at most 4,096 padded tokens, in
float32, with the same threads, schedule and optimiser settings, in alternating rounds of one run. The figures are
medians over the rounds; the loss is the plain negative log-likelihood per token on unseen batches after equal numbers
of updates. JoeyNMT runs in a virtual environment of its own, made on first use. Needs the corpus (MANYHEADS_DATA) and
`pip install transformers`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
from worker_process import WorkerProcess

HERE = Path(__file__).resolve().parent
CONTENDERS = ("manyheads", "joeynmt", "torch", "huggingface")
JOEYNMT = ("torch==2.13.0", "joeynmt==2.3.0", "importlib_metadata", "sentencepiece==0.2.0")
TRAINING, UNSEEN = 100, 8  # batches


def write_batches(path: Path) -> None:
    """Tokenise Multi30k as the recipe says and write the batches that all contenders get."""
    from manyheads.config.reading import load_recipe_for
    from manyheads.config.tasks.translation import TranslationRecipe
    from manyheads.runs.folder import RunFolder
    from manyheads.tasks.interface import Machine
    from manyheads.tasks.translation import TranslationTask

    recipe = load_recipe_for(TranslationRecipe, HERE.parent / "recipes" / "multi30k-tiny.yaml")
    with tempfile.TemporaryDirectory() as folder:
        parts = TranslationTask.prepare(recipe, RunFolder(Path(folder) / "run"), Machine(threads=2), lambda text: None)
    arrays: dict[str, Any] = {"vocabulary": parts.config.target_vocabulary, "held_out": UNSEEN}
    batches = [parts.stages[0][i] for i in range(TRAINING)] + [parts.valid_batches[i] for i in range(UNSEEN)]
    arrays["count"] = len(batches)
    for i, batch in enumerate(batches):
        arrays |= {f"{i}.{name}": array for name, array in batch._asdict().items() if name != "pairs"}
    np.savez(path, **arrays)


def joeynmt_python(folder: Path) -> str:
    """Return the Python of JoeyNMT's virtual environment, making it the first time."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *JOEYNMT], check=True)
    return str(python)


class Worker(WorkerProcess):
    """A contender's process."""

    def __init__(self, name: str, batches: Path, threads: int, python: str) -> None:
        command = [python, str(HERE / "contenders" / "worker.py"), name, str(batches), str(threads)]
        super().__init__(command, {**os.environ, "OMP_NUM_THREADS": str(threads)})
        self.parameters = self.ready["parameters"]


def measure(workers: dict[str, Worker], rounds: int, updates: int) -> dict[str, dict[str, Any]]:
    """Let all contenders train in turns; the first round of each warms up and does not count."""
    results: dict[str, dict[str, Any]] = {
        name: {"parameters": worker.parameters, "tokens_per_second": [], "loss": []} for name, worker in workers.items()
    }
    for number in range(rounds + 1):
        for name, worker in workers.items():
            trained = worker.ask(f"train {updates}")
            unseen = worker.ask("evaluate")
            results[name]["loss"].append(sum(unseen["losses"]) / unseen["tokens"])
            results[name]["peak_bytes"] = trained["peak_bytes"]
            if number:
                results[name]["tokens_per_second"].append(trained["tokens"] / trained["seconds"])
            print(f"round {number} {name}: {trained['tokens'] / trained['seconds']:,.0f} tokens/s", file=sys.stderr)
    return results


def table(results: dict[str, dict[str, Any]], updates: int) -> str:
    """Return the results as Markdown."""
    ours = statistics.median(results["manyheads"]["tokens_per_second"])
    rows = ["| | parameters | target tokens/s | ours is | peak memory |", "|---|---|---|---|---|"]
    for name, row in results.items():
        speed = statistics.median(row["tokens_per_second"])
        memory = f"{row['peak_bytes'] / 2**20:,.0f} MiB"
        rows.append(f"| {name} | {row['parameters']:,} | {speed:,.0f} | {ours / speed:.2f}× | {memory} |")
    rows += ["", f"| loss after updates | {' | '.join(results)} |", "|---" * (len(results) + 1) + "|"]
    for number in range(len(results["manyheads"]["loss"])):
        losses = " | ".join(f"{row['loss'][number]:.3f}" for row in results.values())
        rows.append(f"| {(number + 1) * updates} | {losses} |")
    return "\n".join(rows)


def main() -> None:
    """Run the benchmark, print the table, and write both forms of the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--updates", type=int, default=12, help="updates of each contender in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=CONTENDERS, choices=CONTENDERS)
    parser.add_argument("--joeynmt", type=Path, default=Path(tempfile.gettempdir()) / "manyheads-joeynmt")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "training_speed.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        batches = Path(folder) / "batches.npz"
        write_batches(batches)
        pythons = dict.fromkeys(options.only, sys.executable)
        if "joeynmt" in pythons:
            pythons["joeynmt"] = joeynmt_python(options.joeynmt)
        workers = {name: Worker(name, batches, options.threads, python) for name, python in pythons.items()}
        results = measure(workers, options.rounds, options.updates)
    printed = table(results, options.updates)
    print(printed)
    if set(options.only) == set(CONTENDERS):
        options.out.parent.mkdir(exist_ok=True)
        machine = f"{platform.machine()}, {options.threads} threads, Python {platform.python_version()}"
        options.out.write_text(json.dumps({"machine": machine, "results": results}, indent=2) + "\n", encoding="utf-8")
        options.out.with_suffix(".md").write_text(printed + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
