"""A translation memory that does not fit into memory: a TMX of a gigabyte, read unit by unit to the first step.

    python benchmarks/large_memory.py [--bytes 1000000000] [--threads 2]

The memory is generated first, so that nothing need be fetched, in English, German and French. Then the real command
trains on it with no other option than `--to`, but for one step of a small model, and its resident memory is sampled.
The parts of its work are told by what it says: the first look at all units; what is held out, and the tokenizer, whose
trainer holds as many pairs as it may read at most; the token ids; and the first step.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EVERY = 0.02  # seconds between two samples
LANGUAGES = {"en-GB": "en", "de-DE": "de", "fr-FR": "fr"}
SYLLABLES = [consonant + vowel for consonant in "bdklmnst" for vowel in "aeio"]
WORDS = 30_000
HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header '
    'creationtool="generated" segtype="sentence" adminlang="en" srclang="en-GB" datatype="plaintext"/><body>\n'
)
# What the command says at the end of each part, in order.
PARTS = {
    "first look": " pairs, en → de",
    "held out and tokenizer": "Trained the tokenizer",
    "token ids": " training pairs with ",
    "first step": "step 1 of 1",
}


def units() -> Iterator[str]:
    """Yield units of three languages without an end."""
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS)]
    number = 0
    while True:
        number += 1
        texts = []
        length = chance.randint(4, 20)
        for code, mark in LANGUAGES.items():
            sentence = " ".join(f"{mark[0]}{word}" for word in chance.choices(words, k=length))
            texts.append(f'<tuv xml:lang="{code}"><seg>{sentence} <ph x="1">%s</ph>.</seg></tuv>')
        yield "\n".join([f'<tu tuid="{number}" creationdate="20200101T120000Z">', *texts, "</tu>\n"])


def write_memory(path: Path, size: int) -> int:
    """Write a memory of about this size in bytes, and return its number of units."""
    written = count = 0
    with path.open("w", encoding="utf-8") as file:
        written += file.write(HEADER)
        for unit in units():
            if written >= size:
                break
            written += file.write(unit)
            count += 1
        file.write("</body></tmx>\n")
    return count


class Sampler(threading.Thread):
    """Samples the resident memory of a process, and keeps the largest of each part of its work."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._status = Path("/proc", str(process), "statm")
        self._parts = iter(PARTS)
        self.part = next(self._parts)
        self.largest: dict[str, int] = {}
        self.is_over = threading.Event()

    def run(self) -> None:
        """Sample until it is over."""
        while not self.is_over.wait(EVERY):
            try:
                pages = int(self._status.read_text(encoding="ascii").split()[1])
            except (OSError, IndexError):
                return
            self.largest[self.part] = max(self.largest.get(self.part, 0), pages * os.sysconf("SC_PAGE_SIZE"))

    def heard(self, line: str) -> None:
        """Go on to the next part if a line says that this one has ended."""
        if PARTS.get(self.part, "\0") in line:
            self.part = next(self._parts, "")


def train(words: list[str], environment: dict[str, str]) -> tuple[dict[str, int], dict[str, float]]:
    """Run the command; return the largest resident memory and the seconds of each part."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
    sampler = Sampler(process.pid)
    sampler.start()
    ended: dict[str, float] = {}
    assert process.stderr is not None
    for line in process.stderr:
        part = sampler.part
        sampler.heard(line)
        if sampler.part != part:
            ended[part] = time.perf_counter()
    sampler.is_over.set()
    assert process.wait() == 0
    begins = [begin, *ended.values()]
    return sampler.largest, {part: end - start for (part, end), start in zip(ended.items(), begins, strict=False)}


def main() -> None:
    """Run the benchmark, print what was found and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "large_memory.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory = folder / "large.tmx"
        count = write_memory(memory, options.bytes)
        environment = {**os.environ, "MANYHEADS_CACHE": str(folder / "cache")}
        changes = [f"training.threads={options.threads}", "training.steps=1", "validation.every=1", "model.preset=tiny"]
        changes += ["validation.metric=loss", "validation.samples=0"]
        words = [sys.executable, "-m", "manyheads", "train", str(memory), "--to", "de", "--out", str(folder / "run")]
        words += [word for change in changes for word in ("--set", change)]
        largest, seconds = train(words, environment)
        size = memory.stat().st_size
    found: dict[str, Any] = {
        "bytes": size,
        "units": count,
        "parts": {part: {"peak_bytes": largest[part], "seconds": seconds[part]} for part in PARTS},
    }
    for part in PARTS:
        print(f"{part}: {largest[part] / 1e6:,.0f} MB resident at most, {seconds[part]:,.0f} s")
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
