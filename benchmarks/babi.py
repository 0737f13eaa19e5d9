"""bAbI with a memory network: several trainings from different weights, of which the one with the lowest training error
counts, as in the paper (Sukhbaatar et al. 2015, section 4.2: ten).

    python benchmarks/babi.py --runs FOLDER [--seeds 10] [--recipe recipes/babi.yaml] [--set key=value …]

The test questions have no part in the choice. Each training is `manyheads train`; started again, it continues, and
finished ones are only measured. The table of all seeds, and the errors of every task of the chosen one, are printed and
written to results/babi.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from manyheads.config.tasks.memory_questions import MemoryQuestionsRecipe
from manyheads.data.text.stories import stories_of
from manyheads.data.tokens.word_list import answer_word
from manyheads.encoding.fact_reader import FactReader
from manyheads.evaluation.evaluate import evaluate
from manyheads.metrics.task_errors import task_errors
from manyheads.runs.folder import RunFolder

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "babi.json"


def main() -> None:
    """Train, choose and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--recipe", type=Path, default=HERE.parent / "recipes" / "babi.yaml")
    parser.add_argument("--set", dest="changes", action="append", default=[])
    given = parser.parse_args()
    rows = []
    for seed in range(1, given.seeds + 1):
        run = given.runs / f"{given.recipe.stem}-{seed}"
        train(given.recipe, run, [*given.changes, f"seed={seed}"])
        rows.append(measured(run, seed))
        print(f"seed {seed}: training error {rows[-1]['training_error']:.2f}, test error {rows[-1]['error']:.2f}")
    chosen = min(rows, key=lambda row: row["training_error"])
    print(f"chosen by training error: seed {chosen['seed']}")
    for name, value in chosen["scores"].items():
        print(f"{name:<18}{value:8.2f}")
    RESULTS.write_text(json.dumps({"recipe": given.recipe.name, "chosen": chosen, "seeds": rows}, indent=1) + "\n")


def train(recipe: Path, run: Path, changes: list[str]) -> None:
    """Train one run, or continue it."""
    options = [word for change in changes for word in ("--set", change)]
    command = [sys.executable, "-m", "manyheads", "train", str(recipe), "--out", str(run), *options]
    subprocess.run(command, check=True)


def measured(run: Path, seed: int) -> dict[str, Any]:
    """Return the errors of a run on its training questions and on the test questions, in percent."""
    recipe = RunFolder.open(run).recipe_for(MemoryQuestionsRecipe)
    asked = stories_of(recipe.data.train, memory=recipe.model.memory, split="train")
    answers = FactReader.from_folder(run).answer(asked)
    outcomes = (
        (one.task, found.text == answer_word(one.answer or "")) for one, found in zip(asked, answers, strict=True)
    )
    scores = {score.name: score.value for score in evaluate(run).scores}
    return {"seed": seed, "training_error": task_errors(outcomes)[0].value, "error": scores["error"], "scores": scores}


if __name__ == "__main__":
    main()
