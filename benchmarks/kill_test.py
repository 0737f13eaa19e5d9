"""Kill a training run again and again, at random moments, and compare what it becomes with a run nobody touched.

    python benchmarks/kill_test.py [--times 100] [--seed 1] [--modified]

A real `manyheads train` process is killed with SIGKILL at a random moment, started again, killed again, until the given
number of kills; then it is left to finish. Its `model.safetensors` must equal, byte for byte, that of a run that was
never interrupted. Moments while a checkpoint is being written are among them, since the recipe writes one at every
second step. With --modified, the pairs are changed while they are read, and the mixture and the rate change on the way.
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


def write_corpora(folder: Path) -> None:
    """Write two corpora of made-up sentences, and a lexicon of their words."""
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


def train(recipe: Path, run: Path) -> subprocess.Popen[bytes]:
    """Start the real command."""
    command = [sys.executable, "-m", "manyheads", "train", str(recipe), "--out", str(run), "--device", "cpu"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
    parser.add_argument("--modified", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    out = options.out or HERE / "results" / ("kill_test_modified.json" if options.modified else "kill_test.json")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe = folder / "recipe.yaml"
        write_corpora(folder)
        text = MODIFIED.replace("FOLDER", name) if options.modified else RECIPE
        recipe.write_text(text, encoding="utf-8")
        assert train(recipe, folder / "whole").wait() == 0
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
