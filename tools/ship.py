"""Put a trained run into the package: its weights in 8 bits (and 16), its scores on sentences it never saw, and a card.

    python tools/ship.py runs/tatoeba --test data/tatoeba-cut --about tools/tatoeba.json

The test folder is what `manyheads data cut` made; every direction of the run is scored on it, with the weights as they
were trained and as they are shipped. The `about` file says in words what cannot be measured: description, data, licence
and attribution. What was there under the same name is replaced.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from manyheads.config.data import CorpusSettings
from manyheads.config.recipe import recipe_text
from manyheads.data.corpora import open_corpus
from manyheads.data.pairs import Pair
from manyheads.decoding.translator import Translator
from manyheads.exchange.tree import source_vectors, target_vectors
from manyheads.metrics.scores import Scale, Score, measure
from manyheads.runs.atomic import new_folder
from manyheads.runs.folder import RunFolder
from manyheads.runs.shipped import ABOUT, FOLDER, Shipped
from manyheads.runs.weights import in_eight_bits, read_weights, weights_bytes

BEAM = 4
FAILURES = 3  # of each direction are shown


@dataclass(frozen=True)
class Result:
    """How well one direction is translated, and what it does worst."""

    direction: str
    as_trained: Score
    as_shipped: Score
    failures: list[tuple[Pair, str]]


def test_pairs(folder: Path, source: str, target: str) -> list[Pair]:
    """Return the held-out pairs of a direction, whichever way round their file is."""
    there, back = folder / f"test.{source}-{target}.tsv.gz", folder / f"test.{target}-{source}.tsv.gz"
    columns = {"source_column": 0, "target_column": 1} if there.exists() else {"source_column": 1, "target_column": 0}
    file = there if there.exists() else back
    return list(open_corpus(CorpusSettings(pairs=str(file), **columns), split="test").pairs())


def results(run: RunFolder, draft: Path, test: Path) -> Iterator[Result]:
    """Translate the test data of every direction with both forms of the weights, and score it."""
    trained, shipped = Translator(run.path), Translator(draft)
    for source, target in run.recipe().data.directions:
        assert source is not None
        pairs = test_pairs(test, source, target)
        scale = Scale(bleu_tokenizer="zh" if target == "zh" else "13a")
        texts, references = [pair.source for pair in pairs], [[pair.target] for pair in pairs]
        outputs = [one.translate(texts, to=target, beam=BEAM) for one in (trained, shipped)]
        scores = [measure("bleu", some, references, scale) for some in outputs]
        print(f"{source}-{target}: {scores[0].value:.2f} as trained, {scores[1].value:.2f} as shipped", flush=True)
        yield Result(f"{source}-{target}", scores[0], scores[1], worst(pairs, outputs[1]))


def worst(pairs: list[Pair], outputs: list[str]) -> list[tuple[Pair, str]]:
    """Return the pairs whose outputs have least in common with their references."""

    def shared(row: tuple[Pair, str]) -> float:
        """Return how much an output has in common with its reference."""
        return measure("chrf", [row[1]], [[row[0].target]], Scale()).value

    return sorted(zip(pairs, outputs, strict=True), key=shared)[:FAILURES]


def card(about: dict[str, str], found: list[Result], parameters: int) -> str:
    """Return what people should know before they use the model."""
    lines = [
        f"# {about['name']}",
        "",
        about["description"],
        "",
        f"{parameters:,} parameters, stored in 8 bits, the vectors of the pieces in 16.",
        "",
    ]
    lines += ["## Scores", "", "BLEU on held-out sentences, beam 4.", ""]
    lines += ["| direction | as shipped | as trained | signature |", "|---|---|---|---|"]
    for one in found:
        scores = f"{one.as_shipped.value:.2f} | {one.as_trained.value:.2f}"
        lines.append(f"| {one.direction} | {scores} | `{one.as_shipped.signature.replace('|', ' ')}` |")
    lines += ["", "## Where it fails", "", about["limits"], ""]
    lines += ["| direction | source | output | reference |", "|---|---|---|---|"]
    for one in found:
        for pair, output in one.failures:
            lines.append(f"| {one.direction} | {pair.source} | {output} | {pair.target} |")
    lines += ["", "## Data and licence", "", about["data"], "", about["licence"], "", about["attribution"], ""]
    return "\n".join(lines)


def main() -> None:
    """Ship a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--about", type=Path, required=True)
    options = parser.parse_args()
    run, about = RunFolder.open(options.run), json.loads(options.about.read_text(encoding="utf-8"))
    arrays = read_weights(run.weights_file)
    parameters = sum(array.size for array in arrays.values())
    with new_folder(FOLDER / about["name"]) as draft:
        (draft / "config.json").write_bytes(run.config_file.read_bytes())
        (draft / "recipe.yaml").write_text(recipe_text(run.recipe()), encoding="utf-8")
        # Every token passes through the pieces' vectors twice, as what is read and as what is compared with the output.
        vectors = {name(run.config()) for name in (source_vectors, target_vectors)} | {"output"}
        (draft / "model.safetensors").write_bytes(weights_bytes(in_eight_bits(arrays, finer=vectors)))
        shutil.copytree(run.tokenizer_folder, draft / "tokenizer")
        found = list(results(run, draft, options.test))
        (draft / "card.md").write_text(card(about, found, parameters), encoding="utf-8")
        sums = {
            str(file.relative_to(draft)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(draft.rglob("*"))
            if file.is_file()
        }
        shipped = Shipped(
            name=about["name"],
            description=about["description"],
            languages=sorted({code for direction in found for code in direction.direction.split("-")}),
            parameters=parameters,
            scores={one.direction: round(one.as_shipped.value, 2) for one in found},
            signatures={one.direction: one.as_shipped.signature for one in found},
            data=about["data"],
            licence=about["licence"],
            attribution=about["attribution"],
            sha256=sums,
        )
        (draft / ABOUT).write_text(json.dumps(asdict(shipped), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
