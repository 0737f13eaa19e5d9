"""Placeholders through a translator: how many survive, and what the text around them is worth.

    python benchmarks/placeholders.py --cut data/manyheads-1 [--model tatoeba] [--strings 2000] [--skip 0]

Held-out strings of user interfaces (`manyheads data cut recipes/cuts/manyheads-1.yaml --out data/manyheads-1`), in
equal parts from and into German, French and Chinese, by both engines:

- `survived`: the share of strings in whose output every part of the source that must not be translated is as often as
  in the source, spelled as there.
- `chrf`: of the outputs, against the references.
- `chrf around`: the same without the placeholders in both, which would score themselves.
- `chrf without`: of translations of the sources without their placeholders, against references without theirs.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.decoding.text.protecting import without
from manyheads.decoding.translator import Translator
from manyheads.documents.placeholders import protected
from manyheads.metrics.scores import OverlapOptions, measure

HERE = Path(__file__).resolve().parent
DIRECTIONS = [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en"), ("en", "zh"), ("zh", "en")]


def held_out(cut: Path, other: str) -> Iterator[Pair]:
    """Yield the held-out strings with placeholders of English and another language."""
    for file in sorted(cut.glob(f"placeholders.*.en-{other}.tsv.gz")):
        yield from open_corpus(CorpusSettings(pairs=str(file)), split="test").pairs()


def strings(cut: Path, source: str, target: str, count: int, skip: int) -> list[Pair]:
    """Return strings of a direction; those of the two directions of a pair of languages are not the same."""
    if source == "en":
        return list(islice(held_out(cut, target), skip, skip + count))
    later = skip + count
    return [Pair(pair.target, pair.source) for pair in islice(held_out(cut, source), later, later + count)]


def bare(text: str) -> str:
    """Return a text without its placeholders."""
    return without(text, protected(text), singly=True).text


def survives(source: str, output: str) -> bool:
    """Return whether an output has all that its source has to keep, as often."""
    written = Counter(one.text for one in protected(output))
    kept = Counter(one.text for one in protected(source))
    return all(written[text] == count for text, count in kept.items())


def chrf(outputs: list[str], references: list[str]) -> float:
    """Return the corpus's chrF."""
    return round(measure("chrf", outputs, [[one] for one in references], OverlapOptions()).value, 2)


def measure_direction(translator: Translator, pairs: list[Pair], source: str, target: str) -> dict[str, float]:
    """Return the figures of one direction."""
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    bare_references = [bare(text) for text in references]
    languages = {"source": source, "to": target}
    outputs = translator.translate(sources, **languages)
    bare_outputs = translator.translate([bare(text) for text in sources], **languages)
    for text, output in zip(sources, outputs, strict=True):
        if not survives(text, output):
            print(f"lost: {text} → {output}")
    return {
        "strings": len(pairs),
        "survived": sum(map(survives, sources, outputs)) / len(pairs),
        "chrf": chrf(outputs, references),
        "chrf around": chrf([bare(text) for text in outputs], bare_references),
        "chrf without": chrf([bare(text) for text in bare_outputs], bare_references),
    }


def main() -> None:
    """Measure both engines and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="A run folder or a model of the package; by default, the package's first.")
    parser.add_argument("--cut", type=Path, required=True)
    parser.add_argument("--strings", type=int, default=2000)
    parser.add_argument("--skip", type=int, default=0, help="leave out this many strings of each pair of languages")
    parser.add_argument("--engines", nargs="+", default=["ctranslate2", "torch"])
    parser.add_argument("--directions", nargs="+", default=["-".join(pair) for pair in DIRECTIONS])
    parser.add_argument("--out", type=Path, default=HERE / "results" / "placeholders.json")
    options = parser.parse_args()
    count = -(-options.strings // len(DIRECTIONS))
    result = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    for engine in options.engines:
        translator = Translator(options.model, engine=engine)
        for source, target in (direction.split("-") for direction in options.directions):
            pairs = strings(options.cut, source, target, count, options.skip)
            found = measure_direction(translator, pairs, source, target)
            result.setdefault(engine, {})[f"{source}-{target}"] = found
            print(engine, f"{source}-{target}", found, flush=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
