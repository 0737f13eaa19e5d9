"""Inline tags in translations: by the attention of the model in the box, and by the share of the way.

    python benchmarks/tag_placing.py [--sentences 300] [--seed 1]

In sentences that people have aligned word by word, a tag is put around one to three words of the source. Its place is
right if it encloses exactly the words of the reference that are aligned with them; words are drawn for which these are
one run. The reference is forced: the model reads it instead of writing its own translation, so only the place counts.
Both ways place the same tags. Needs the gold alignments (MANYHEADS_DATA).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manyheads.decoding.translator import Translator
from manyheads.documents.interface import Styled, Tag
from manyheads.documents.split_text import Span, SplitText
from manyheads.documents.tag_alignment import Link
from manyheads.documents.tag_placing import placed
from manyheads.studies.forced import Forced
from manyheads.studies.gold_alignments import GoldPair, gold_corpora
from manyheads.studies.head_measures import own_weights

HERE = Path(__file__).resolve().parent
MOST_WORDS = 3


def tagged_words(pair: GoldPair, chance: random.Random) -> tuple[int, int, int, int] | None:
    """Draw a run of source words whose aligned words are a run; return the ends of both, or None if there is none."""
    runs = list(runs_of(pair))
    return chance.choice(runs) if runs else None


def runs_of(pair: GoldPair) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of one to three readable words that are aligned with a run of readable words."""
    for first in range(len(pair.source)):
        for last in range(first, min(first + MOST_WORDS, len(pair.source))):
            words = range(first, last + 1)
            aligned = sorted({target for source, target in pair.links.sure if source in words})
            is_run = aligned and aligned == list(range(aligned[0], aligned[-1] + 1))
            if is_run and readable(pair.source[first : last + 1]) and readable([pair.target[one] for one in aligned]):
                yield first, last, aligned[0], aligned[-1]


def readable(words: list[str]) -> bool:
    """Return whether all words are letters and digits: how punctuation is placed is another question."""
    return all(word.isalnum() for word in words)


def spans(words: list[str]) -> list[Span]:
    """Return the spans of words that single spaces separate."""
    found, start = [], 0
    for word in words:
        found.append((start, start + len(word)))
        start += len(word) + 1
    return found


def is_exact(pair: GoldPair, run: tuple[int, int, int, int], links: list[Link] | None, language: str) -> bool:
    """Return whether a tag around the words of a run is placed around exactly the aligned ones."""
    source, target = spans(pair.source), spans(pair.target)
    first, last, begin, end = run
    tags = (Tag(source[first][0], "open", "<b>"), Tag(source[last][1], "close", "</b>"))
    text, output = " ".join(pair.source), " ".join(pair.target)
    found = placed(Styled(text, tags), SplitText([text], ["", ""]), [output], language, [links])
    return [tag.offset for tag in found.tags] == [target[begin][0], target[end][1]]


def measured(forced: Forced, pairs: list[GoldPair], target: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the share of exact tags, by attention and by the share of the way."""
    chance = random.Random(options.seed)
    drawn = [(pair, run) for pair in pairs if (run := tagged_words(pair, chance))][: options.sentences]
    seen = forced.look([(pair.source, pair.target) for pair, _ in drawn], to=target)
    exact = {"attention": 0, "share of the way": 0}
    for (pair, run), one in zip(drawn, seen, strict=True):
        read, written = spans(pair.source), spans(pair.target)
        best = own_weights(forced, one).argmax(axis=1)
        links = [Link(read[int(word)], span) for word, span in zip(best, written, strict=True)]
        exact["attention"] += is_exact(pair, run, links, target)
        exact["share of the way"] += is_exact(pair, run, None, target)
    return {"tags": len(drawn), **{way: round(100 * count / len(drawn), 1) for way, count in exact.items()}}


def main() -> None:
    """Run the benchmark, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "tag_placing.json")
    options = parser.parse_args()
    forced, results = Forced(Translator(engine="torch")), {}
    for corpus in gold_corpora().values():
        pairs = corpus.read()
        one, other = corpus.source_language, corpus.target_language
        results[f"{one}-{other}"] = measured(forced, pairs, other, options)
        results[f"{other}-{one}"] = measured(forced, [pair.reversed() for pair in pairs], one, options)
    for direction, row in results.items():
        print(f"{direction}: {row}")
    options.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
