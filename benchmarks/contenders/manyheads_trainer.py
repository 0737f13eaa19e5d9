"""Ours: `manyheads train` with two files, two for validation and a time, and nothing else.

While the command runs, each checkpoint that it writes by itself is linked to, so that it stays when the run no longer
needs it. The last weights are those that the finished command leaves in its run folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timed_part import OUTPUT, Part, run, write_lines

AVERAGE, MODEL = "average.safetensors", "model.safetensors"
LOOK = 0.5  # seconds between two looks for a new checkpoint


def checkpoints_of(run_folder: Path) -> list[Path]:
    """Return the complete checkpoints that a run has now."""
    return sorted((run_folder / "checkpoints").glob("step-*[0-9]"))


def keep_new(part: Part, seen: set[str]) -> None:
    """Link to the weights of checkpoints that are new: the averaged ones where there are any, as the run would."""
    for place in checkpoints_of(part.folder / "run"):
        weights = next((place / name for name in (AVERAGE, MODEL) if (place / name).exists()), None)
        if place.name not in seen and weights is not None:
            seen.add(place.name)
            os.link(weights, part.keep(time.time() - part.started) / MODEL)


def train(part: Part) -> None:
    """Run the command, and look for its checkpoints."""
    run_folder = part.folder / "run"
    words = [word for name in ("train", "valid") for word in texts_of(part, name)]
    words += ["--max-minutes", str(part.minutes), "--out", str(run_folder)]
    process = subprocess.Popen([sys.executable, "-m", "manyheads", "train", *words])
    seen: set[str] = set()
    try:
        while process.poll() is None:
            keep_new(part, seen)
            time.sleep(LOOK)
    finally:
        process.terminate()
    if process.wait():
        raise RuntimeError(f"manyheads train ended with status {process.returncode}")
    shutil.copy(run_folder / MODEL, part.keep(time.time() - part.started) / MODEL)
    write_facts(part, updates=int(checkpoints_of(run_folder)[-1].name.removeprefix("step-")))


def texts_of(part: Part, name: str) -> list[str]:
    """Return the options for the texts of a split."""
    prefix = "" if name == "train" else "valid-"
    return [f"--{prefix}source", part.texts[f"{name}.source"], f"--{prefix}target", part.texts[f"{name}.target"]]


def write_facts(part: Part, *, updates: int) -> None:
    """Write the size of the model and of its vocabulary."""
    from manyheads.runs.folder import RunFolder
    from manyheads.runs.weights import read_weights

    folder = RunFolder.open(part.folder / "run")
    parameters = sum(array.size for array in read_weights(folder.weights_file).values())
    part.facts(parameters=parameters, vocabulary=folder.config().vocabulary_sizes[1], updates=updates)


def translate(part: Part) -> None:
    """Translate the validation source with all weights that were kept."""
    from manyheads import Translator

    texts = part.lines("valid.source")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        shutil.copytree(part.folder / "run", folder, ignore=shutil.ignore_patterns("checkpoints", "events"))
        for kept in part.kept():
            shutil.copy(kept / MODEL, folder / MODEL)
            write_lines(kept / OUTPUT, Translator(folder).translate(texts, beam=part.beam))


if __name__ == "__main__":
    run(train, translate)
