"""Decoding speed, side by side: our two engines, CTranslate2 used directly, and Hugging Face's generate.

    python benchmarks/decoding_speed.py RUN --source FILE --target FILE [--sentences 2000] [--rounds 8]

All contenders have the same weights (the run, and what `manyheads export` makes of it), get the same texts and return
texts, greedily and with a beam of 4, one sentence at a time and at the batch that suits each best. The sentences are
divided among the rounds; in each round every contender translates the same part, one after the other, so that a change
of the machine's speed affects all. Before that, each tries its settings (CTranslate2's workers and threads, the size of
a batch) twice on the first sentences and keeps the fastest. Speeds are sentences per second, the median over the
rounds; every second round has the opposite order. One at a time, each translates every fourth of the sentences, in
three times as many rounds; in batches, each translates all of them twice. A run that Marian cannot hold, such as one
with rotary positions, is measured without Hugging Face's generate.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sacrebleu
from worker_process import WorkerProcess

HERE = Path(__file__).resolve().parent
BATCHES = (16, 32, 64, 128)
BEAMS = (1, 4)
EVERY = 4  # of the sentences are translated one at a time
TRIAL = {True: 40, False: 250}  # sentences to try a setting with: one at a time, and in batches
Setting = tuple[str, str, str]
"""A contender, what it is told, and its precision."""

HUGGING_FACE = "huggingface generate"
OURS = {
    "manyheads auto, float32": [("manyheads", "auto", "float32")],
    "manyheads auto, int8": [("manyheads", "auto", "int8")],
    "manyheads torch, float32": [("manyheads", "torch", "float32")],
    "manyheads torch, int8": [("manyheads", "torch", "int8")],
}
OTHERS = {
    f"ctranslate2 expert, {precision}": [("ctranslate2", threads, precision) for threads in ("1x1", "1x2", "2x1")]
    for precision in ("float32", "int8")
} | {
    "ctranslate2 defaults, float32": [("ctranslate2", "default", "float32")],
    "ctranslate2 defaults, int8": [("ctranslate2", "default", "int8")],
    HUGGING_FACE: [("huggingface", "", "float32")],
}


class Worker(WorkerProcess):
    """A contender's process."""

    def __init__(self, setting: Setting, folder: Path) -> None:
        name, told, precision = setting
        worker = str(HERE / "contenders" / "decoding_worker.py")
        super().__init__([sys.executable, worker, name, str(folder), told, precision], os.environ, quiet=True)

    def translate(self, texts: list[str], beam: int, batch: int) -> dict[str, Any]:
        """Send texts and wait for their translations."""
        return self.ask(json.dumps({"texts": texts, "beam": beam, "batch": batch}))


@dataclass
class Entry:
    """One contender at its best setting for one way to work."""

    setting: Setting
    batch: int
    speeds: list[float] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    peak_bytes: int = 0


def tried(workers: dict[Setting, Worker], settings: list[Setting], texts: list[str], beam: int, *, one: bool) -> Entry:
    """Return the fastest of a contender's settings on a few sentences; each warms up first."""
    best = (float("inf"), settings[0], 1)
    for setting in settings:
        for batch in (1,) if one else BATCHES:
            workers[setting].translate(texts[: max(8, batch)], beam, batch)
            for _ in range(2):
                seconds = workers[setting].translate(texts[: TRIAL[one]], beam, batch)["seconds"]
                best = min(best, (seconds, setting, batch))
    return Entry(best[1], best[2])


def divided(texts: list[str], parts: int) -> list[list[str]]:
    """Return the texts as a number of parts of about the same size."""
    return [texts[i * len(texts) // parts : (i + 1) * len(texts) // parts] for i in range(parts)]


def measure(folder: Path, texts: list[str], rounds: int, names: Iterable[str]) -> dict[str, dict[str, Entry]]:
    """Let each contender find its settings, then translate in turns."""
    contenders = {name: settings for name, settings in (OURS | OTHERS).items() if name in names}
    workers = {setting: Worker(setting, folder) for settings in contenders.values() for setting in settings}
    results: dict[str, dict[str, Entry]] = {}
    for beam in BEAMS:
        for one in (True, False):
            way = f"{'greedy' if beam == 1 else f'beam {beam}'}, {'one at a time' if one else 'best batch'}"
            entries = {name: tried(workers, settings, texts, beam, one=one) for name, settings in contenders.items()}
            parts = divided(texts[::EVERY], 3 * rounds) if one else 2 * divided(texts, rounds)
            for number, part in enumerate(parts):
                for name in sorted(entries, reverse=number % 2 == 1):
                    entry = entries[name]
                    found = workers[entry.setting].translate(part, beam, entry.batch)
                    entry.speeds.append(len(part) / found["seconds"])
                    entry.outputs += found["outputs"] if one or number < rounds else []
                    entry.peak_bytes = found["peak_bytes"]
                    print(f"{way}, round {number}, {name}: {len(part) / found['seconds']:,.1f}/s", file=sys.stderr)
            results[way] = entries
    for worker in workers.values():
        worker.close()
    return results


def summary(results: dict[str, dict[str, Entry]], references: list[str]) -> list[dict[str, Any]]:
    """Return a row for every way to work and every contender."""
    return [
        {
            "way": way,
            "contender": name,
            "setting": entry.setting[1],
            "batch": entry.batch,
            "sentences_per_second": round(statistics.median(entry.speeds), 2),
            "bleu": round(_bleu(entry.outputs, references[:: EVERY if entry.batch == 1 else 1]), 2),
            "peak_mib": entry.peak_bytes >> 20,
        }
        for way, entries in results.items()
        for name, entry in entries.items()
    ]


def _bleu(outputs: list[str], references: list[str]) -> float:
    """Return BLEU of tokenised text."""
    return float(sacrebleu.corpus_bleu(outputs, [references], tokenize="none", force=True).score)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown, a table for every way to work."""
    lines: list[str] = []
    for way in dict.fromkeys(row["way"] for row in rows):
        lines += ["", f"**{way}**", "", "| | workers × threads | batch | sentences/s | BLEU | peak memory |"]
        lines.append("|---|---|---|---|---|---|")
        for row in (row for row in rows if row["way"] == way):
            setting = row["setting"] if "ctranslate2" in row["contender"] else ""
            lines.append(
                f"| {row['contender']} | {setting} | {row['batch']} | {row['sentences_per_second']:,.1f} "
                f"| {row['bleu']:.2f} | {row['peak_mib']:,} MiB |"
            )
    return "\n".join(lines).strip()


def exported(run: Path, folder: Path) -> bool:
    """Put the run and its exports side by side; return whether Hugging Face's Marian can hold it."""
    from manyheads.errors import ManyheadsError
    from manyheads.exchange.ctranslate2 import export_ctranslate2
    from manyheads.exchange.huggingface import export_huggingface
    from manyheads.runs.folder import RunFolder

    (folder / "run").symlink_to(run.resolve())
    export_ctranslate2(RunFolder.open(run), folder / "ctranslate2")
    try:
        export_huggingface(RunFolder.open(run), folder / "huggingface")
    except ManyheadsError as refusal:
        print(f"Without Hugging Face: {refusal}", file=sys.stderr)
        return False
    return True


def main() -> None:
    """Run the benchmark, print the table, and write both forms of the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run that CTranslate2 can hold")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=list(OURS | OTHERS), choices=list(OURS | OTHERS))
    parser.add_argument("--out", type=Path, default=HERE / "results" / "decoding_speed.json")
    options = parser.parse_args()
    from manyheads.data.text.files import read_lines

    texts, references = (list(read_lines(file))[: options.sentences] for file in (options.source, options.target))
    with tempfile.TemporaryDirectory() as name:
        names = set(options.only) - (set() if exported(options.run, Path(name)) else {HUGGING_FACE})
        rows = summary(measure(Path(name), texts, options.rounds, names), references)
    print(printed := table(rows))
    if set(options.only) == set(OURS | OTHERS):
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        facts = {"machine": machine, "sentences": len(texts), "rows": rows}
        options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        options.out.with_suffix(".md").write_text(printed + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
