"""Kill a training run again and again, at random moments, and compare what it becomes with a run nobody touched.

    python benchmarks/kill_test.py [--times 100] [--seed 1] [--modified | --streams | --planned]

A real `manyheads train` process is killed with SIGKILL at a random moment, started again, killed again, until the given
number of kills; then it is left to finish. Its `model.safetensors` must equal, byte for byte, that of a run that was
never interrupted. Moments while a checkpoint is being written are among them, since the recipe writes one at every
second step. With --modified, the pairs are changed while they are read, and the mixture and the rate change on the way.
With --streams, a language model reads a text in lanes, several times over, in two batches for each update. With
--planned, the run that nobody touches is given files and a minute, and chooses the rest; what it chose is its recipe,
which the other run is trained by.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECIPE = """
name: kill-test
data:
  train: {task: copy, count: 2000}
  valid: {task: copy, count: 20}
tokenizer: {kind: symbols}
model: {width: 64, heads: 4, encoder_layers: 2, decoder_layers: 2, feed_forward: 128}
training:
  steps: 400
  batch_tokens: 1024
  checkpoint_every: 2
  average: last
  threads: 1
validation: {every: 20, metric: exact_match, samples: 0}
"""

MODIFIED = """
name: kill-test
data:
  train:
    - {pairs: FOLDER/one.tsv, source_language: en, target_language: de, both_ways: true, weight: [1, 0.2]}
    - {pairs: FOLDER/two.tsv, source_language: en, target_language: de, both_ways: true, weight: [1, 3],
       lexicon: FOLDER/lexicon.tsv}
  held_out: 20
  modify: {joined: 0.2, numbers: 0.5, placeholders: 0.5, names: 0.2, tags: 0.2, terms: 0.2, upper_case: 0.1,
           title_case: 0.1, final_punctuation: 0.2, accents: 0.1, typos: 0.2}
tokenizer: {kind: bpe, vocabulary: 500, symbols: true, byte_fallback: true, sampling: 0.1}
model: {width: 64, heads: 4, encoder_layers: 2, decoder_layers: 2, feed_forward: 128, positions: {kind: rotary}}
training:
  steps: 400
  batch_tokens: 512
  schedule: {kind: warmup_constant_decay, warmup: 20, rate: 0.003, decay_from: 200}
  stages: [decay]
  optimiser: muon
  moving_average: 0.99
  checkpoint_every: 2
  threads: 1
validation: {every: 40, metric: loss, sentences: 4, samples: 0}
"""

STREAMS = """
name: kill-test
task: language_model
data: {train: FOLDER/text, held_out: 0.05, length: 32}
tokenizer: {kind: characters}
model: {width: 64, heads: 4, layers: 2, feed_forward: 128, dropout: 0.1}
training:
  steps: 400
  batch_tokens: 256
  accumulate: 2
  schedule: {kind: linear, rate: 0.005, warmup: 20}
  checkpoint_every: 2
  average: last
  threads: 1
validation: {every: 20, samples: 0}
"""

FORMS = {
    "plain": (RECIPE, "kill_test"),
    "modified": (MODIFIED, "kill_test_modified"),
    "streams": (STREAMS, "kill_test_streams"),
    "planned": (None, "kill_test_planned"),
}
"""The recipe of each form of the test, if it is not chosen, and the name of its result."""

PLANNED = ["--max-minutes", "1", "--set", "training.checkpoint_every=10", "--set", "training.threads=1"]


def write_corpora(folder: Path) -> None:
    """Write two corpora of made-up sentences, a lexicon of their words, and the sources as one text."""
    chance = random.Random(1)
    words = {"file": "Datei", "window": "Fenster", "red": "rote", "house": "Haus", "tired": "müde", "street": "Straße"}
    (folder / "lexicon.tsv").write_text("en\tde\n" + "".join(f"{a}\t{b}\n" for a, b in words.items()), encoding="utf-8")
    for name in ("one", "two"):
        lines = []
        for number in range(400):
            drawn = chance.sample(sorted(words), k=chance.randint(2, 5))
            both = (" ".join(drawn), " ".join(words[word] for word in drawn))
            lines.append("\t".join(f"{side} {{0}} Tom {number + 10}." for side in both))
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sources = "".join(line.split("\t")[0] + "\n" for line in lines)
    (folder / "text").write_text(sources, encoding="utf-8")


def train(what: Path, run: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the real command with a recipe, or with a file of pairs."""
    given = ["--pairs", str(what)] if what.suffix == ".tsv" else [str(what)]
    command = [sys.executable, "-m", "manyheads", "train", *given, "--out", str(run), "--device", "cpu", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def train_untouched(text: str | None, folder: Path) -> Path:
    """Train the run that nobody touches; return the recipe of the other one."""
    whole = folder / "whole"
    if text is None:
        assert train(folder / "one.tsv", whole, *PLANNED).wait() == 0
        return whole / "recipe.yaml"
    recipe = folder / "recipe.yaml"
    recipe.write_text(text.replace("FOLDER", str(folder)), encoding="utf-8")
    assert train(recipe, whole).wait() == 0
    return recipe


def steps_taken(run: Path) -> int:
    """Return the newest checkpoint's step."""
    return max((int(path.name.removeprefix("step-")) for path in (run / "checkpoints").glob("step-*")), default=0)


def kill_repeatedly(recipe: Path, run: Path, times: int, chance: random.Random) -> list[int]:
    """Kill the run `times` times; return the step it had reached each time.

    Each time the process is left alone until it has taken at least one new checkpoint, and then for a random moment
    more, so that kills fall everywhere between and into two checkpoints, and the run still comes to its end.
    """
    reached: list[int] = []
    while len(reached) < times:
        before, process = steps_taken(run), train(recipe, run)
        while steps_taken(run) <= before and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.wait()
        reached.append(steps_taken(run))
        print(f"killed {len(reached)} of {times} at step {reached[-1]}", file=sys.stderr)
    return reached


def main() -> None:
    """Run the test, print the verdict and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    forms = parser.add_mutually_exclusive_group()
    for form in ("modified", "streams", "planned"):
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, default="plain")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text, result_name = FORMS[options.form]
    out = options.out or HERE / "results" / f"{result_name}.json"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpora(folder)
        recipe = train_untouched(text, folder)
        reached = kill_repeatedly(recipe, folder / "killed", options.times, random.Random(options.seed))
        assert train(recipe, folder / "killed").wait() == 0
        sums = {
            run: hashlib.sha256((folder / run / "model.safetensors").read_bytes()).hexdigest()
            for run in ("whole", "killed")
        }
    identical = sums["whole"] == sums["killed"]
    print(f"killed {len(reached)} times, at steps {reached}: {'byte-identical' if identical else 'DIFFERENT'}")
    out.parent.mkdir(exist_ok=True)
    result = {"kills": len(reached), "steps": reached, "identical": identical, "sha256": sums}
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(0 if identical else 1)


if __name__ == "__main__":
    main()
