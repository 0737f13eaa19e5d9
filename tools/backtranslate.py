"""Translate the sentences that one pair of languages lacks out of the others' training data, as further sources.

    python tools/backtranslate.py data/tatoeba-cut --pivot en --model tatoeba --out data/tatoeba-back

The folder is what `manyheads data cut` made. An English sentence that stands beside a French or a Chinese one, but
beside no German one, is put into German by the model: the German is the machine's, the English people's, and together
they are a pair to learn German to English from (Sennrich et al., 2016). `back.de-en.tsv.gz` has these, and so on.
A translation that is a held-out sentence, but for capitals and punctuation, is left out, as is one that did not end. So
is one that lost too much: from which the model would not find its way back to the sentence that it translated.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from manyheads.config.corpora import CorpusSettings
from manyheads.data.cleaning.cutting import sentence_key
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair, write_columns
from manyheads.decoding.translator import Translator
from manyheads.runs.atomic import fresh_folder

BEAM = 2  # a wider one takes twice as long for sources that are to be read, not shown
LEAST = -1.2  # below it, many of those looked at had lost a part of the sentence
CHUNK = 4096  # sentences at a time


class Languages(NamedTuple):
    """From which language to which one is to learn."""

    source: str
    target: str


def sentences(folder: Path, part: str) -> Iterator[dict[str, str]]:
    """Yield the pairs of a part of the cut, each sentence under its language."""
    for file in sorted(folder.glob(f"{part}.*-*.tsv.gz")):
        source, target = file.name.split(".")[1].split("-")
        for pair in open_corpus(CorpusSettings(pairs=str(file)), split=part).pairs():
            yield {source: pair.source, target: pair.target}


def held_out(folder: Path) -> dict[str, set[str]]:
    """Return what must not be learned from, in each language."""
    keys: dict[str, set[str]] = defaultdict(set)
    for part in ("valid", "test"):
        for pair in sentences(folder, part):
            for language, text in pair.items():
                keys[language].add(sentence_key(text))
    return keys


def lacking(folder: Path, pivot: str) -> dict[str, list[str]]:
    """Return the pivot's training sentences that have no translation into a language, for each language."""
    beside: dict[str, set[str]] = defaultdict(set)
    for pair in sentences(folder, "train"):
        for language in pair.keys() - {pivot}:
            beside[language].add(pair[pivot])
    every = set().union(*beside.values())
    return {language: sorted(every - known) for language, known in beside.items()}


def back_translated(translator: Translator, texts: list[str], languages: Languages, never: set[str]) -> list[Pair]:
    """Pair the texts with their translations, where these ended and are not held out."""
    found = translator.translations(texts, to=languages.source, beam=BEAM)
    return [
        Pair(one.text, one.source)
        for one in found
        if one.text and not one.warning and sentence_key(one.text) not in never
    ]


def faithful(translator: Translator, pairs: list[Pair], languages: Languages, least: float) -> list[Pair]:
    """Keep the pairs whose target is probable enough, given its translation: the mean of log P over its tokens."""
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    scores = translator.score(sources, targets, to=languages.target)
    return [pair for pair, each in zip(pairs, scores, strict=True) if sum(each) >= least * len(each)]


def main() -> None:
    """Write one file of pairs for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cut", type=Path, help="a folder that `manyheads data cut` made")
    parser.add_argument("--pivot", default="en", help="the language that all pairs have")
    parser.add_argument("--model", type=Path, help="a run folder; by default the translator in the box")
    parser.add_argument("--least", type=float, default=LEAST, help="mean log-probability per token of the way back")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    options = parser.parse_args()
    translator = Translator(options.model, engine="ctranslate2", precision="int8")
    never = held_out(options.cut)
    with fresh_folder(options.out) as draft:
        for language, texts in sorted(lacking(options.cut, options.pivot).items()):
            languages, kept = Languages(language, options.pivot), []
            for begin in range(0, len(texts), CHUNK):
                pairs = back_translated(translator, texts[begin : begin + CHUNK], languages, never[language])
                kept += faithful(translator, pairs, languages, options.least)
            write_columns(draft / f"back.{languages.source}-{languages.target}.tsv.gz", kept)
            print(f"{language}: {len(texts):,} sentences, {len(kept):,} pairs", flush=True)


if __name__ == "__main__":
    main()
