"""Translating a file with our command, beside CTranslate2 used by an expert with the same weights: whole processes.

    python benchmarks/command_speed.py --source F --to en [--model RUN] [--beam 4] [--rounds 7]

Both read the file and write one line for each of its lines, in turns; start-up counts for both. The expert's script has
nothing but CTranslate2 and SentencePiece, a model that was converted before, and the best of several settings of
workers and batches, found before the rounds begin. Ours is `manyheads translate` with no setting but the precision.
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
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EXPERT = """
import json, sys
import ctranslate2, sentencepiece
folder, tag, source, target, options = sys.argv[1:]
options = json.loads(options)
workers, threads = options["workers"]
translator = ctranslate2.Translator(folder, "cpu", compute_type=options["precision"],
                                    inter_threads=workers, intra_threads=threads)
pieces = sentencepiece.SentencePieceProcessor(model_file=folder + "/shared.model")
with open(source, encoding="utf-8") as file:
    texts = [tag + " " + line.strip() for line in file]
rows = [[*row, "</s>"] for row in pieces.encode(texts, out_type=str)]
found = translator.translate_batch(rows, beam_size=options["beam"], max_batch_size=options["batch"],
                                   batch_type="tokens", length_penalty=1.0,
                                   max_decoding_length=50 + max(map(len, rows)))
with open(target, "w", encoding="utf-8") as file:
    file.writelines(line + "\\n" for line in pieces.decode([one.hypotheses[0] for one in found]))
"""
WORKERS = ((1, 2), (2, 1))  # workers × threads of each, for two cores
BATCHES = (128, 256, 512, 1024, 2048, 4096)  # tokens


def seconds(command: list[str], *, source: Path | None = None, target: Path | None = None) -> float:
    """Run a command, with files as its input and output where they are given; return how long it took."""
    begin = time.perf_counter()
    if source is None or target is None:
        subprocess.run(command, check=True)
    else:
        with source.open("rb") as lines, target.open("wb") as outputs:
            subprocess.run(command, check=True, stdin=lines, stdout=outputs)
    return time.perf_counter() - begin


def compared(options: argparse.Namespace, folder: Path, precision: str) -> dict[str, Any]:
    """Measure both at one precision."""
    ours, theirs = folder / "ours.txt", folder / "theirs.txt"
    command = [sys.executable, "-m", "manyheads", "translate", "--to", options.to, "--beam", str(options.beam)]
    command += ["--precision", precision, "--length-penalty", "power:1"]
    command += [] if options.model is None else ["--model", options.model]

    def expert(workers: tuple[int, int], batch: int) -> list[str]:
        """Return the expert's command with a setting."""
        setting = {"workers": workers, "batch": batch, "beam": options.beam, "precision": precision}
        tag = f"<2{options.to}>"
        files = [str(folder / "ctranslate2"), tag, str(options.source), str(theirs)]
        return [sys.executable, "-c", EXPERT, *files, json.dumps(setting)]

    tried = {(workers, batch): seconds(expert(workers, batch)) for workers in WORKERS for batch in BATCHES}
    best = min(tried, key=lambda setting: tried[setting])
    rounds: list[tuple[float, float]] = []
    for _ in range(options.rounds):
        rounds.append((seconds(command, source=options.source, target=ours), seconds(expert(*best))))
    lines, others = (file.read_text(encoding="utf-8").splitlines() for file in (ours, theirs))
    return {
        "precision": precision,
        "expert_setting": {"workers": best[0][0], "threads": best[0][1], "batch_tokens": best[1]},
        "seconds": round(statistics.median(one for one, _ in rounds), 3),
        "expert_seconds": round(statistics.median(other for _, other in rounds), 3),
        "ratio": round(statistics.median(other / one for one, other in rounds), 3),
        "lines": len(lines),
        "same_lines": sum(one == other for one, other in zip(lines, others, strict=True)),
    }


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--model")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "command_speed.json")
    options = parser.parse_args()
    from manyheads.exchange.ctranslate2 import export_ctranslate2
    from manyheads.runs.folder import RunFolder

    with tempfile.TemporaryDirectory() as name:
        export_ctranslate2(RunFolder.open(options.model), Path(name) / "ctranslate2")
        results = [compared(options, Path(name), precision) for precision in ("float32", "int8")]
    facts = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "results": results,
    }
    print(json.dumps(facts, indent=2))
    options.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
