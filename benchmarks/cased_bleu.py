"""BLEU of lower-cased, tokenised Multi30k output as people would read it: with capitals and ordinary punctuation.

    manyheads evaluate RUN --source … --target … --save output.de
    python benchmarks/cased_bleu.py output.de [--split test_2016_flickr]

The benchmark that is usually reported is on lower-cased, tokenised text. Here each word gets the form that is most
frequent in the raw training text (not counting first words, which say little), the first word a capital, and Moses'
detokenizer joins them. The reference is the raw one; what is lost on the way shows when the lower-cased reference is
given as the output (`--split val`: 92.87). Needs the corpus (MANYHEADS_DATA) and `pip install sacremoses`.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import sacrebleu
from sacremoses import MosesDetokenizer, MosesTokenizer

from manyheads.data.text.files import read_lines


def usual_forms(lines: Iterable[str], language: str) -> dict[str, str]:
    """Return the most frequent form of every lower-cased word inside the sentences of raw text."""
    tokenizer, counts = MosesTokenizer(lang=language), defaultdict[str, Counter[str]](Counter)
    for line in lines:
        for word in tokenizer.tokenize(line)[1:]:
            counts[word.lower()][word] += 1
    return {word: forms.most_common(1)[0][0] for word, forms in counts.items()}


def recased(line: str, forms: dict[str, str]) -> list[str]:
    """Return the words of a lower-cased, tokenised line in their usual forms, the first with a capital."""
    words = [forms.get(word, word) for word in line.split()]
    return [words[0][:1].upper() + words[0][1:], *words[1:]] if words else []


def main() -> None:
    """Print the score with its signature."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--split", default="test_2016_flickr")
    parser.add_argument("--language", default="de")
    options = parser.parse_args()
    raw = Path(os.environ.get("MANYHEADS_DATA", "data")) / "multi30k" / "raw"
    forms = usual_forms(read_lines(raw / f"train.{options.language}.gz"), options.language)
    detokenizer = MosesDetokenizer(lang=options.language)
    outputs = [detokenizer.detokenize(recased(line, forms)) for line in read_lines(options.output)]
    references = list(read_lines(raw / f"{options.split}.{options.language}.gz"))
    bleu = sacrebleu.BLEU()
    print(f"{bleu.corpus_score(outputs, [references]).score:.2f}  {bleu.get_signature()}")


if __name__ == "__main__":
    main()
