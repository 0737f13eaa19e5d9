"""Put a trained run into the package: its weights in 8 bits (and 16), its scores on sentences it never saw, and a card.

    python tools/ship.py RUN --test data/tatoeba-cut --domains data/manyheads-1 --about tools/manyheads-1.json

The test folder is what `manyheads data cut` made; every direction of the run is scored on it, with the weights as they
were trained and as they are shipped. A second cut, of corpora with names, gives scores by domain. The `about` file says
in words what cannot be measured: description, data and licence, which corpora make a domain, and the cut whose corpora
are to be attributed; `ATTRIBUTION.md` names them as the catalogue does. What was there under the same name is replaced.

    python tools/ship.py RUN --weights tools/weights/manyheads-1 --about tools/manyheads-1.json

This writes the run in the same small form to another folder, without scores: weights that a training can start from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyheads.config.corpora import CorpusSettings
from manyheads.config.reading import load_cut, recipe_text
from manyheads.data.public.catalogue import CATALOGUE
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.decoding.translator import Translator
from manyheads.exchange.tree import source_vectors, target_vectors
from manyheads.metrics.scores import OverlapOptions, Score, measure
from manyheads.metrics.segmentation import segmentation
from manyheads.runs.atomic import new_folder
from manyheads.runs.folder import RunFolder
from manyheads.runs.shipped import FOLDER, Shipped, write_about
from manyheads.runs.weights import in_eight_bits, read_weights, weights_bytes

ROOT = Path(__file__).resolve().parents[1]
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


def domain_scores(draft: Path, folder: Path, domains: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """Return BLEU by domain and direction on the tests of the corpora that make a domain, as shipped."""
    translator, found = Translator(draft), {}
    for domain, names in domains.items():
        found[domain] = {
            f"{source}-{target}": round(bleu(translator, pairs, target), 2)
            for source, target in RunFolder(draft).recipe().data.directions
            if (pairs := named_pairs(folder, names, str(source), target))
        }
        print(f"{domain}: {found[domain]}", flush=True)
    return found


def bleu(translator: Translator, pairs: list[Pair], target: str) -> float:
    """Return BLEU of the translations of pairs."""
    outputs = translator.translate([pair.source for pair in pairs], to=target, beam=BEAM)
    return measure("bleu", outputs, [[pair.target] for pair in pairs], overlap_options(target)).value


def overlap_options(target: str) -> OverlapOptions:
    """Return the options of BLEU for a target language."""
    return OverlapOptions(bleu_tokenizer=segmentation(target, []).tokenizer)


def named_pairs(folder: Path, names: list[str], source: str, target: str) -> list[Pair]:
    """Return the held-out pairs of named corpora, whichever way round their files are, as far as there are files."""
    pairs: list[Pair] = []
    for name in names:
        for first, second in ((source, target), (target, source)):
            file = folder / f"test.{name}.{first}-{second}.tsv.gz"
            if file.exists():
                read = open_corpus(CorpusSettings(pairs=str(file)), split="test").pairs()
                pairs += [pair if first == source else Pair(pair.target, pair.source) for pair in read]
    return pairs


def attribution_text(cut: Path) -> str:
    """Return who is to be named for the corpora of a cut, and their licences, as the catalogue has them."""
    wanted = {corpus.pairs for corpus in load_cut(cut).corpora}
    lines = ["# Attribution", "", "The weights of this model were learned from these corpora:", ""]
    for corpus in CATALOGUE:
        if wanted & {f"data:{file.path}" for file in corpus.files}:
            assert corpus.shippable, f"{corpus.name} may not be in shipped weights"
            lines.append(f"- {corpus.attribution}. {corpus.description}. Licence: {corpus.licence}. {corpus.homepage}")
    return "\n".join(lines) + "\n"


def write_attribution(about: dict[str, Any], draft: Path) -> None:
    """Write who is to be named for the corpora, if the cut that they come from is known."""
    if "cut" in about:
        (draft / "ATTRIBUTION.md").write_text(attribution_text(ROOT / about["cut"]), encoding="utf-8")


def results(run: RunFolder, draft: Path, test: Path) -> Iterator[Result]:
    """Translate the test data of every direction with both forms of the weights, and score it."""
    trained, shipped = Translator(run.path), Translator(draft)
    for source, target in run.recipe().data.directions:
        assert source is not None
        pairs = test_pairs(test, source, target)
        options = overlap_options(target)
        texts, references = [pair.source for pair in pairs], [[pair.target] for pair in pairs]
        outputs = [one.translate(texts, to=target, beam=BEAM) for one in (trained, shipped)]
        scores = [measure("bleu", some, references, options) for some in outputs]
        print(f"{source}-{target}: {scores[0].value:.2f} as trained, {scores[1].value:.2f} as shipped", flush=True)
        yield Result(f"{source}-{target}", scores[0], scores[1], worst(pairs, outputs[1]))


def worst(pairs: list[Pair], outputs: list[str]) -> list[tuple[Pair, str]]:
    """Return the pairs whose outputs have least in common with their references."""

    def shared(row: tuple[Pair, str]) -> float:
        """Return how much an output has in common with its reference."""
        return measure("chrf", [row[1]], [[row[0].target]], OverlapOptions()).value

    return sorted(zip(pairs, outputs, strict=True), key=shared)[:FAILURES]


def card(about: dict[str, Any], found: list[Result], domains: dict[str, dict[str, float]], parameters: int) -> str:
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
    if domains:
        lines += ["", "By domain, as shipped, on held-out texts of each corpus:", ""]
        lines += [f"| direction | {' | '.join(domains)} |", "|---" * (len(domains) + 1) + "|"]
        for one in found:
            row = (f"{scores[one.direction]:.2f}" if one.direction in scores else "–" for scores in domains.values())
            lines.append(f"| {one.direction} | {' | '.join(row)} |")
    lines += ["", "## Where it fails", "", about["limits"], ""]
    lines += ["| direction | source | output | reference |", "|---|---|---|---|"]
    for one in found:
        for pair, output in one.failures:
            lines.append(f"| {one.direction} | {pair.source} | {output} | {pair.target} |")
    lines += ["", "## Data and licence", "", about["data"], "", about["licence"], "", about["attribution"], ""]
    return "\n".join(lines)


def write_run(run: RunFolder, draft: Path) -> int:
    """Write a run with its weights in 8 bits, those of the pieces in 16; return the number of its weights."""
    arrays = read_weights(run.weights_file)
    (draft / "config.json").write_bytes(run.config_file.read_bytes())
    (draft / "recipe.yaml").write_text(recipe_text(run.recipe()), encoding="utf-8")
    # Every token passes through the pieces' vectors twice, as what is read and as what is compared with the output.
    vectors = {name(run.config()) for name in (source_vectors, target_vectors)} | {"output"}
    (draft / "model.safetensors").write_bytes(weights_bytes(in_eight_bits(arrays, finer=vectors)))
    shutil.copytree(run.tokenizer_folder, draft / "tokenizer")
    return sum(array.size for array in arrays.values())


def main() -> None:
    """Ship a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--weights", type=Path, help="write the weights to this folder, and no scores")
    parser.add_argument("--test", type=Path)
    parser.add_argument("--domains", type=Path, help="a cut of corpora with names, for scores by domain")
    parser.add_argument("--about", type=Path)
    options = parser.parse_args()
    run = RunFolder.open(options.run)
    if options.weights is None and (options.test is None or options.about is None):
        parser.error("--test and --about are needed, unless --weights is given")
    about = json.loads(options.about.read_text(encoding="utf-8")) if options.about else {}
    if options.weights is not None:
        with new_folder(options.weights) as draft:
            write_run(run, draft)
            write_attribution(about, draft)
        return
    with new_folder(FOLDER / about["name"]) as draft:
        parameters = write_run(run, draft)
        found = list(results(run, draft, options.test))
        domains = domain_scores(draft, options.domains, about.get("domains", {})) if options.domains else {}
        (draft / "card.md").write_text(card(about, found, domains, parameters), encoding="utf-8")
        write_attribution(about, draft)
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
            domains=domains,
            replaces=about.get("replaces", []),
        )
        write_about(draft, json.dumps(asdict(shipped), ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    main()
