"""The time from a command to its translation, in a fresh process, beside a Hugging Face pipeline with the same weights.

    python benchmarks/cold_start.py RUN "a text" [--rounds 5]

Both run as a user starts them, in turns; the figures are medians. The files are in the machine's page cache for both.
CTranslate2's model is made in memory at each start, so there is no first start that differs from the others; `opening`
is the part of it that reads, converts and loads the model. Also checked: `python -X importtime` of ours names no torch.
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
PIPELINE = """
import sys
from transformers import MarianMTModel, MarianTokenizer
tokenizer, model = MarianTokenizer.from_pretrained(sys.argv[1]), MarianMTModel.from_pretrained(sys.argv[1])
batch = tokenizer([sys.argv[2]], return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, num_beams=4), skip_special_tokens=True)[0])
"""
OPENING = """
import sys, time
from manyheads.decoding.engines.ctranslate2 import CTranslate2Engine
from manyheads.runs.folder import RunFolder
run = RunFolder.open(sys.argv[1])
begin = time.perf_counter()
CTranslate2Engine(run, precision=sys.argv[2])
print(time.perf_counter() - begin)
"""


def timed(command: list[str]) -> tuple[float, str]:
    """Run a command; return its seconds and what it printed."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, done.stdout.strip()


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run that Marian can hold (model.norm: post)")
    parser.add_argument("text")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cold_start.json")
    options = parser.parse_args()
    from manyheads.exchange.huggingface import export_huggingface
    from manyheads.runs.folder import RunFolder

    run, text = str(options.run), options.text
    with tempfile.TemporaryDirectory() as name:
        export_huggingface(RunFolder.open(run), Path(name) / "huggingface")
        translate = ["-m", "manyheads", "translate", "--model", run, text]
        commands = {
            "manyheads, float32": translate,
            "manyheads, int8": [*translate, "--precision", "int8"],
            "opening, float32": ["-c", OPENING, run, "float32"],
            "opening, int8": ["-c", OPENING, run, "int8"],
            "huggingface": ["-c", PIPELINE, str(Path(name) / "huggingface"), text],
        }
        seconds: dict[str, list[float]] = {key: [] for key in commands}
        printed: dict[str, str] = {}
        for _ in range(options.rounds + 1):
            for key, command in commands.items():
                took, printed[key] = timed([sys.executable, *command])
                seconds[key].append(float(printed[key]) if key.startswith("opening") else took)
    imported = subprocess.run(
        [sys.executable, "-X", "importtime", *translate], capture_output=True, text=True, check=True
    ).stderr
    medians = {key: round(statistics.median(some[1:]), 3) for key, some in seconds.items()}  # the first warms up
    facts: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "bytes": RunFolder.open(run).weights_file.stat().st_size,
        "seconds": medians,
        "of_huggingface": round(medians["manyheads, float32"] / medians["huggingface"], 3),
        "imports_torch": any(
            line.rsplit("|", 1)[-1].strip().split(".")[0] == "torch" for line in imported.splitlines()
        ),
        "texts": {key: value for key, value in printed.items() if not key.startswith("opening")},
    }
    print(json.dumps(facts, indent=2, ensure_ascii=False))
    options.out.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
