"""Paragraphs of held-out sentences, translated by the command, the library and a server: one text, and every sentence.

    python benchmarks/paragraphs.py --pairs data/tatoeba-cut/test.en-de.tsv.gz --from de --to en \
        --source-column 1 --target-column 0 [--model RUN] [--paragraphs 200]

The pairs are those of `manyheads data cut`. A paragraph is four sentences drawn at random. BLEU is that of the
paragraphs, beside that of the same sentences translated line by line and joined, and that of paragraphs which the model
reads whole, as if they were one sentence. The results of several directions are kept side by side in
results/paragraphs.json.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyheads.config.corpora import CorpusSettings
from manyheads.data.text.corpora import open_corpus
from manyheads.decoding.text.sentences import split_sentences
from manyheads.decoding.translator import Translator
from manyheads.documents.split_text import SplitText
from manyheads.metrics.overlap import overlap_score

RESULTS = Path(__file__).resolve().parent / "results" / "paragraphs.json"
SENTENCES = 4  # in a paragraph
COMMAND = [sys.executable, "-m", "manyheads"]


def joined(sentences: list[str], language: str) -> str:
    """Return sentences as a paragraph."""
    return SplitText(sentences, ["", *[" "] * (len(sentences) - 1), ""]).fill(sentences, language)


def by_command(paragraphs: list[str], model: list[str], to: str) -> list[str]:
    """Translate paragraphs with the command, a line each."""
    words = [*COMMAND, "translate", "--to", to, *(["--model", *model] if model else [])]
    asked = "".join(f"{paragraph}\n" for paragraph in paragraphs)
    done = subprocess.run(words, input=asked, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


@contextmanager
def server(model: list[str]) -> Iterator[str]:
    """Run a server in a process of its own; yield its address."""
    words = [*COMMAND, "serve", *model, "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"at (http://\S+)", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()  # its log must not fill the pipe
                yield found[1]
                return
        raise SystemExit("the server did not start")
    finally:
        process.terminate()
        process.wait()


def by_server(paragraphs: list[str], model: list[str], languages: tuple[str, str]) -> list[str]:
    """Translate paragraphs with a server, a request each."""
    with server(model) as address:
        return [served(address, paragraph, languages) for paragraph in paragraphs]


def served(address: str, text: str, languages: tuple[str, str]) -> str:
    """Ask a server."""
    body = json.dumps({"q": text, "source": languages[0], "target": languages[1]}).encode()
    request = urllib.request.Request(f"{address}/translate", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["translatedText"])


def sentence_count(texts: list[str], language: str) -> int:
    """Return how many sentences texts have."""
    return sum(len(split_sentences(text, [language]).sentences) for text in texts)


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """Translate paragraphs in every way and compare."""
    corpus = CorpusSettings(
        pairs=options.pairs, source_column=options.source_column, target_column=options.target_column
    )
    pairs = list(open_corpus(corpus, split="test").pairs())
    drawn = random.Random(1)
    chosen = [drawn.sample(pairs, SENTENCES) for _ in range(options.paragraphs)]
    source, target = options.source, options.target
    paragraphs = [joined([one.source for one in some], source) for some in chosen]
    references = [joined([one.target for one in some], target) for some in chosen]
    model = [options.model] if options.model else []
    translator = Translator(*model)
    lines = iter(translator.translate([one.source for some in chosen for one in some], to=target, split_above=0))
    alone = [joined([next(lines) for _ in some], target) for some in chosen]
    ways = {
        "library": translator.translate(paragraphs, to=target),
        "command": by_command(paragraphs, model, target),
        "server": by_server(paragraphs, model, (source, target)),
    }
    same = sum(len(set(texts)) == 1 for texts in zip(*ways.values(), strict=True))
    ways |= {"line by line": alone, "read whole": translator.translate(paragraphs, to=target, split_above=0)}
    return {
        "paragraphs": len(paragraphs),
        "same_text_from_all_three": same,
        "bleu": {name: bleu(texts, references, target) for name, texts in ways.items()},
        "sentences": {
            "source": sentence_count(paragraphs, source),
            "reference": sentence_count(references, target),
            **{name: sentence_count(texts, target) for name, texts in ways.items()},
        },
    }


def bleu(outputs: list[str], references: list[str], language: str) -> float:
    """Return BLEU, with the tokenizer of the language."""
    tokenizer = "zh" if language == "zh" else "13a"
    score, _ = overlap_score("bleu", outputs, references, lowercase=False, tokenizer=tokenizer)
    return round(score, 2)


def main() -> None:
    """Measure one direction and keep the result."""
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("--pairs", required=True)
    reading.add_argument("--from", dest="source", required=True)
    reading.add_argument("--to", dest="target", required=True)
    reading.add_argument("--source-column", type=int, default=0)
    reading.add_argument("--target-column", type=int, default=1)
    reading.add_argument("--model")
    reading.add_argument("--paragraphs", type=int, default=200)
    reading.add_argument("--out", type=Path, default=RESULTS)
    options = reading.parse_args()
    results = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    results[f"{options.source}-{options.target}"] = compare(options)
    options.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(results[f"{options.source}-{options.target}"], indent=2))


if __name__ == "__main__":
    main()
