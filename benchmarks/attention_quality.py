"""What each attention and each kind of position is worth: one training with each, and nothing else different.

    python benchmarks/attention_quality.py translation --runs FOLDER [--parallel 2] [--precision bfloat16]
    python benchmarks/attention_quality.py listops --runs FOLDER [--parallel 2]

`translation` trains recipes/multi30k-tiny.yaml for 1,500 steps of 1,536 tokens with Muon and scores the
validation data (beam 5).
`listops` trains recipes/listops.yaml for 2,000 steps, or 20 minutes if they take longer, and has the accuracy on 2,000
lists of the test split.
Every training has one thread, and `--parallel` of them run side by side. Each one's figures are recorded as soon as it
is done. Started again, it goes on where it was: what is recorded with the same settings is not trained again, whatever
the machine, and a training that was stopped goes on in its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECIPES = HERE.parent / "recipes"
MINUTES = 20
Changes = dict[str, str]

TRANSLATION: Changes = {
    "training.steps": "1500",
    "training.batch_tokens": "1536",
    "training.accumulate": "1",
    "training.optimiser": "muon",  # gets further than the recipe's Adam in so few steps
    "training.schedule": "{kind: linear, rate: 0.004, warmup: 300}",
    "training.average": "none",
    "validation.every": "500",
    "model.dropout": "0.1",  # so short a training does not overfit
}
POSITIONS = ("sinusoidal", "learned", "relative", "t5", "rotary", "alibi")
ATTENTIONS: dict[str, Changes] = {  # captions have some fifteen pieces, so that neighbourhoods are small here
    "window": {"window": "4"},
    "window with a global token": {"window": "4", "global_tokens": "1"},
    "bigbird": {"block": "4", "random_blocks": "1"},
    "linear": {},
    "performer": {"features": "64"},
    "hashing": {"chunk": "8", "rounds": "2"},
}
LISTOPS: Changes = {"validation.every": "500", "training.steps": "2000"}
LONG_ATTENTIONS: dict[str, Changes] = {
    "full": {},
    "window": {"window": "16"},
    "longformer": {"window": "16", "global_tokens": "1"},
    "bigbird": {"block": "16", "random_blocks": "2"},
    "linformer": {"rank": "64", "length": "320"},
    "performer": {"features": "64"},
    "hashing": {"chunk": "32", "rounds": "2"},
}
LONG_RANGE_ARENA = {  # accuracies of Tay et al. 2021, on lists ten times as long
    "full": 36.4,
    "window": 15.8,
    "longformer": 35.6,
    "bigbird": 36.1,
    "linformer": 35.7,
    "performer": 18.0,
    "hashing": 37.3,
}
KINDS = {"full": "dot_product", "longformer": "window", "window with a global token": "window"}


@dataclass(frozen=True)
class Suite:
    """A recipe, what is changed for all of its trainings, what for each, and the figure that a finished one has."""

    recipe: Path
    changes: Changes
    variants: dict[str, Changes]
    score: Callable[[Path], dict[str, float]]
    most_minutes: int | None = None
    published: dict[str, float] | None = None


def attention(name: str, keys: Changes) -> Changes:
    """Return the keys of a recipe that choose an attention."""
    return {"model.attention.kind": KINDS.get(name, name)} | {f"model.attention.{key}": keys[key] for key in keys}


def translation_score(run: Path) -> dict[str, float]:
    """Return BLEU and chrF on the validation data."""
    corpus = "data:multi30k/tok/val.lc.norm.tok"
    found = json.loads(
        command("evaluate", str(run), "--source", f"{corpus}.en.gz", "--target", f"{corpus}.de.gz", "--json")
    )
    return {score["name"]: round(score["value"], 2) for score in found["scores"]}


def accuracy_on_test(run: Path) -> dict[str, float]:
    """Return the accuracy on lists that neither taught the model nor chose its checkpoint, and the steps it took."""
    found = json.loads(command("evaluate", str(run), "--count", "2000", "--json"))
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return {score["name"]: round(score["value"], 2) for score in found["scores"]} | {"steps": steps[-1]}


SUITES = {
    "translation": Suite(
        RECIPES / "multi30k-tiny.yaml",
        TRANSLATION,
        {f"positions: {kind}": {"model.positions.kind": kind} for kind in POSITIONS}
        | {f"attention: {name}": attention(name, keys) for name, keys in ATTENTIONS.items()},
        translation_score,
    ),
    "listops": Suite(
        RECIPES / "listops.yaml",
        LISTOPS,
        {name: attention(name, keys) for name, keys in LONG_ATTENTIONS.items()},
        accuracy_on_test,
        most_minutes=MINUTES,
        published=LONG_RANGE_ARENA,
    ),
}


def command(*words: str) -> str:
    """Run manyheads on one thread and return what it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "manyheads", *words], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"manyheads {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def trained(suite: Suite, name: str, runs: Path, precision: str) -> dict[str, Any]:
    """Train one variant, unless that was done before, and return its figures."""
    run = runs / name.replace(": ", "-").replace(" ", "-")
    done = run / "done"
    if not done.exists():
        changes = {**suite.changes, **suite.variants[name], "training.threads": "1", "training.precision": precision}
        words = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
        limit = ["--max-minutes", str(suite.most_minutes)] if suite.most_minutes else []
        command("train", str(suite.recipe), "--out", str(run), *limit, *words)
        done.touch()
    row: dict[str, Any] = {"variant": name, **suite.score(run)}
    if suite.published is not None:
        row["Long Range Arena"] = suite.published[name]
    print(row, file=sys.stderr, flush=True)
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join(lines + ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows])


def facts_of(suite: Suite, precision: str) -> dict[str, Any]:
    """Return what all figures of a suite depend on."""
    return {"recipe": suite.recipe.name, "changes": suite.changes, "precision": precision}


def recorded(file: Path, suite: Suite, facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows that a file has of this suite under the same facts, by the name of their variant."""
    if not file.exists():
        return {}
    record = json.loads(file.read_text(encoding="utf-8"))
    if any(record.get(name) != fact for name, fact in facts.items()):
        return {}
    same = {name for name, changes in suite.variants.items() if record["variants"].get(name) == changes}
    return {row["variant"]: row for row in record["rows"] if row["variant"] in same}


def write(file: Path, suite: Suite, facts: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Write both forms of the results."""
    record = {**facts, "variants": suite.variants, "rows": rows}
    file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    file.with_suffix(".md").write_text(table(rows) + "\n", encoding="utf-8")


def main() -> None:
    """Train every variant of a suite that is not recorded yet, write each one's figures, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=list(SUITES))
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    options = parser.parse_args()
    suite, runs = SUITES[options.suite], options.runs / options.suite
    out, facts = HERE / "results" / f"attention_{options.suite}.json", facts_of(suite, options.precision)
    done = recorded(out, suite, facts)
    with ThreadPoolExecutor(options.parallel) as pool:
        waiting = [name for name in suite.variants if name not in done]
        for finished in as_completed(pool.submit(trained, suite, name, runs, options.precision) for name in waiting):
            row = finished.result()
            done[row["variant"]] = row
            write(out, suite, facts, [done[name] for name in suite.variants if name in done])
    print(table([done[name] for name in suite.variants]))


if __name__ == "__main__":
    main()
