"""Whether both engines write the same text: a run's greedy translations by PyTorch and by CTranslate2, compared.

    python benchmarks/same_text.py RUN --source FILE [--to de] [--sentences 500]

Both compute in float32. A text differs where two tokens are so nearly equally probable that the order of a sum decides.
The result of each run is added to `results/same_text.json`, under the name of its recipe.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from manyheads.data.text.files import read_lines
from manyheads.decoding.translator import Translator
from manyheads.runs.folder import RunFolder

HERE = Path(__file__).resolve().parent
ENGINES = ("ctranslate2", "torch")


def main() -> None:
    """Translate with both engines, print how many texts are the same, and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run folder, or the name of a model that comes with the package")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--to", help="target language, for models with several")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "same_text.json")
    options = parser.parse_args()
    texts = list(read_lines(options.source))[: options.sentences]
    found = [
        Translator(options.run, engine=engine, precision="float32").translate(texts, to=options.to, beam=1)
        for engine in ENGINES
    ]
    differing = [
        {"source": source, **dict(zip(ENGINES, pair, strict=True))}
        for source, *pair in zip(texts, *found, strict=True)
        if pair[0] != pair[1]
    ]
    same = len(texts) - len(differing)
    print(f"{same} of {len(texts)} texts are the same")
    recorded = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    recorded[RunFolder.open(options.run).recipe().name] = {
        "texts": len(texts),
        "same": same,
        "to": options.to,
        "differing": differing,
    }
    options.out.write_text(json.dumps(recorded, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
