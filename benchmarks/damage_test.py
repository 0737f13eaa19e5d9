"""Damage a training between kills, and see what becomes of it: nothing may pass unnoticed.

    python benchmarks/damage_test.py [--times 200] [--seed 1] [--minutes 15]

A tiny training is killed at a random step with SIGKILL. Then one file of its run folder, of its token store or of its
corpus is damaged at random: deleted, cut short, filled with zeros, changed by one bit, made longer, or exchanged with
the same file of another run. After that the training is started again. It must either end with the weights of a run
that was never damaged, byte by byte, or name what is wrong in a sentence. Each trial runs in a fork of this process,
so that everything is imported once; PyTorch can be forked as long as it has started no threads.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS = 12
RECIPE = """
name: damage-test
data:
  train: {source: FOLDER/train.source, target: FOLDER/train.target}
  held_out: 20
  max_length: 16
tokenizer: {kind: symbols}
model: {width: 16, heads: 2, encoder_layers: 1, decoder_layers: 1, feed_forward: 16}
training:
  steps: 12
  batch_tokens: 64
  checkpoint_every: 3
  keep_checkpoints: 4
  log_every: 1
  threads: 1
  precision: float32
  schedule: {kind: inverse_sqrt, rate: 0.01, warmup: 5}
  average: AVERAGE
validation: {every: 6, metric: loss, sentences: 10, samples: 0}
seed: SEED
"""

Damage = Callable[[Path, Path, random.Random], None]


def shortened(file: Path, _: Path, chance: random.Random) -> None:
    """Cut a file off somewhere."""
    content = file.read_bytes()
    file.write_bytes(content[: chance.randrange(len(content)) if content else 0])


def zeroed(file: Path, _: Path, chance: random.Random) -> None:
    """Fill a part of a file with zeros."""
    content = bytearray(file.read_bytes())
    begin = chance.randrange(len(content) + 1)
    end = chance.randrange(begin, len(content) + 1)
    content[begin:end] = bytes(end - begin)
    file.write_bytes(content)


def flipped(file: Path, _: Path, chance: random.Random) -> None:
    """Change one bit of a file."""
    content = bytearray(file.read_bytes())
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def lengthened(file: Path, _: Path, chance: random.Random) -> None:
    """Append random bytes to a file."""
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randint(1, 100)))


def deleted(file: Path, _: Path, chance: random.Random) -> None:
    """Delete a file."""
    file.unlink()


def exchanged(file: Path, other: Path, chance: random.Random) -> None:
    """Put the same file of another run in the place of a file."""
    if other.is_file():
        shutil.copyfile(other, file)


DAMAGES: dict[str, Damage] = {
    "delete": deleted,
    "truncate": shortened,
    "zero": zeroed,
    "flip": flipped,
    "append": lengthened,
    "swap": exchanged,
}


class Ground:
    """A folder with a corpus, a cache and a recipe, and what they come to without damage."""

    def __init__(self, folder: Path, seed: int, average: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        chance = random.Random(seed)
        sentences = [" ".join(chance.choices("abcdefgh", k=chance.randint(2, 8))) for _ in range(300)]
        for side, change in (("source", str), ("target", str.upper)):
            text = "".join(f"{change(sentence)}\n" for sentence in sentences)
            (folder / f"train.{side}").write_text(text, encoding="utf-8")
        text = RECIPE.replace("FOLDER", str(folder)).replace("SEED", str(seed)).replace("AVERAGE", average)
        (folder / "recipe.yaml").write_text(text, encoding="utf-8")

    def copy(self, place: Path) -> Ground:
        """Return a copy in another folder, whose files name that folder."""
        copied = object.__new__(Ground)
        shutil.copytree(self.folder, place)
        copied.folder = place
        return copied

    @property
    def weights(self) -> bytes:
        """The weights of the run."""
        return (self.folder / "run" / "model.safetensors").read_bytes()

    def files(self, where: str) -> list[Path]:
        """Return what may be damaged: files of the run folder, of the cache, or of the corpus."""
        if where == "corpus":
            return sorted(self.folder.glob("train.*"))
        return sorted(path for path in (self.folder / where).rglob("*") if path.is_file() and path.name != "used")

    def train(self, kill_at: int | None = None) -> tuple[int, str]:
        """Train in a fork; return its exit status and what it said. `kill_at` is a step at which it is killed."""
        log = self.folder / "log"
        if (child := os.fork()) == 0:
            os._exit(_train(self.folder, log, kill_at))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def _train(folder: Path, log: Path, kill_at: int | None) -> int:
    """Run the command in this process, which is killed at a step; return its status."""
    from manyheads.cli import main
    from manyheads.training.progress import Reporter

    os.environ["MANYHEADS_CACHE"] = str(folder / "cache")
    update = Reporter.update

    def killing(self: Reporter, step: int, facts: str) -> None:
        """Report a step, or end at it."""
        if step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        update(self, step, facts)

    Reporter.update = killing  # type: ignore[method-assign]
    sys.argv = ["manyheads", "train", str(folder / "recipe.yaml"), "--out", str(folder / "run"), "--device", "cpu"]
    said, code = io.StringIO(), 0
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException as error:
        said.write(f"Traceback: {error!r}")
        code = 1
    log.write_text(said.getvalue(), encoding="utf-8")
    return code


def verdict(ground: Ground, wanted: bytes, damaged: Path, code: int, said: str) -> str:
    """Return what became of a damaged training: identical, named, both, or what is wrong."""
    words = said.replace("\n", "")
    is_part = damaged.name.startswith(("state.", "optimiser.")) or "step-" in damaged.parent.name
    named = damaged.name in words and (not is_part or damaged.parent.name in words)
    if code == 2:
        return "refused in a sentence" if said.count("error: ") == 1 and named else "REFUSED WITHOUT THE NAME"
    if code != 0:
        return "TRACEBACK"
    if ground.weights == wanted:
        return "identical, and named" if named else "identical"
    told = any(sentence in said for sentence in ("Changed since", "Changed before", "Going on with data"))
    return "other, and named" if named and told else "UNNOTICED"


def trial(master: Ground, other: Ground, wanted: bytes, place: Path, chance: random.Random) -> dict[str, str]:
    """Kill a training, damage a file of it, and let it end."""
    ground = master.copy(place)
    ground.train(kill_at=chance.randint(1, STEPS))
    where = chance.choice(["run", "run", "run", "cache", "corpus"])
    file, name = chance.choice(ground.files(where)), chance.choice(sorted(DAMAGES))
    if where == "cache":  # the folders of stores are named by what is in them
        twin = chance.choice(sorted((other.folder / "cache").rglob(file.name)))
    else:
        twin = other.folder / file.relative_to(ground.folder)
    DAMAGES[name](file, twin, chance)
    code, said = ground.train()
    became = verdict(ground, wanted, file, code, said)
    shutil.rmtree(place)
    return {
        "where": where,
        "file": str(file.relative_to(place)),
        "damage": name,
        "became": became,
        **({"said": said[-600:]} if became.isupper() or became == "other, and named" else {}),
    }


def main() -> None:
    """Run the trials, print and record the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=15.0, help="begin no trial after this time")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "damage_test.json")
    options = parser.parse_args()
    chance, begin, found = random.Random(options.seed), time.monotonic(), []
    with tempfile.TemporaryDirectory() as name:
        # Files name the folder that they are in, so all trials take place in the same one, one after the other.
        place = Path(name) / "trial"
        prepared = []
        for seed, average in ((1, "none"), (1, "last"), (2, "none")):
            ground = Ground(place, seed, average)
            pristine = ground.copy(Path(name) / f"pristine-{seed}-{average}")
            # Here and not in a fork, so that each fork finds everything imported.
            assert _train(ground.folder, ground.folder / "log", None) == 0
            prepared.append((pristine, ground.weights, ground.copy(Path(name) / f"trained-{seed}-{average}")))
            shutil.rmtree(place)
        other = prepared[2][2]
        while len(found) < options.times and time.monotonic() - begin < 60 * options.minutes:
            master, wanted, _ = prepared[len(found) % 2]
            found.append(trial(master, other, wanted, place, chance))
            print(json.dumps(found[-1]), file=sys.stderr)
    counts = Counter(one["became"] for one in found)
    by_damage = {name: dict(Counter(one["became"] for one in found if one["damage"] == name)) for name in DAMAGES}
    bad = [one for one in found if one["became"].isupper()]
    result = {"trials": len(found), "seed": options.seed, "became": dict(counts), "by_damage": by_damage, "bad": bad}
    print(json.dumps(result, indent=2))
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
