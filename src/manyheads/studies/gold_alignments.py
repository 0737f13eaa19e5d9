"""Sentence pairs that people have aligned word by word, tokenised.

Of most languages, `NAME.src-tgt.gz` has a pair in each line (`source ||| target`) and `NAME.gold.gz` its links,
counted from 1: `2-3` for those that people were sure of, `2p3` for possible ones. Of German, each language has a file,
and a third one has a link in each line, counted from 0: sentence, source word, target word, and S or P.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from manyheads.data.text.files import read_lines, resolve
from manyheads.errors import ManyheadsError
from manyheads.metrics.alignment_error import GoldLinks, Link

FOLDER = "data:alignment"
ORIGIN = "https://github.com/neulab/awesome-align, that of German from https://github.com/bicici/SMTData"


@dataclass(frozen=True)
class GoldPair:
    """The words of a source and of a target, and the links between them."""

    source: list[str]
    target: list[str]
    links: GoldLinks

    def reversed(self) -> GoldPair:
        """Return the pair in the other direction."""
        return GoldPair(self.target, self.source, self.links.reversed())


@dataclass(frozen=True)
class GoldCorpus:
    """A corpus, in the direction of its files, and the error rates that others published for it."""

    source_language: str
    target_language: str
    read: Callable[[], list[GoldPair]]
    published: tuple[tuple[str, float], ...] = ()


def gold_corpora() -> dict[str, GoldCorpus]:
    """Return the corpora of the languages of the model that comes with the package, by their pair of languages.

    The published error rates are those of https://github.com/neulab/awesome-align for the same files.
    """
    french = (("fast_align", 10.5), ("Mgiza", 5.9), ("awesome-align, untuned", 5.6))
    chinese = (("fast_align", 38.1), ("Mgiza", 35.1), ("awesome-align, untuned", 18.1))
    return {
        "de-en": GoldCorpus("de", "en", _german),
        "en-fr": GoldCorpus("en", "fr", lambda: _in_two_files("enfr"), french),
        "zh-en": GoldCorpus("zh", "en", lambda: _in_two_files("zhen"), chinese),
    }


def _in_two_files(name: str) -> list[GoldPair]:
    """Return the pairs of a file of sentences and a file of links."""
    pairs = [_sides(line, where) for where, line in _lines(f"{name}.src-tgt.gz")]
    links = [read_links(line, where) for where, line in _lines(f"{name}.gold.gz")]
    _require_as_many(name, len(pairs), len(links))
    return [GoldPair(source, target, wanted) for (source, target), wanted in zip(pairs, links, strict=True)]


def _german() -> list[GoldPair]:
    """Return the pairs of German and English."""
    sources, targets = ([line.split() for _, line in _lines(f"bicici_deen.test.{side}.gz")] for side in ("de", "en"))
    _require_as_many("bicici_deen", len(sources), len(targets))
    sure: list[set[Link]] = [set() for _ in sources]
    possible: list[set[Link]] = [set() for _ in sources]
    for where, line in _lines("bicici_deen.de-en.ref.wa.gz"):
        if not line.strip():
            continue
        found = re.fullmatch(r"(\d+) (\d+) (\d+) ([SP])\s*", line)
        if not found or not 1 <= int(found[1]) <= len(sources):
            raise _not_a_link(line, where)
        (sure if found[4] == "S" else possible)[int(found[1]) - 1].add((int(found[2]), int(found[3])))
    return [
        GoldPair(source, target, GoldLinks(frozenset(one), frozenset(other)))
        for source, target, one, other in zip(sources, targets, sure, possible, strict=True)
    ]


def read_links(line: str, where: str) -> GoldLinks:
    """Return the links of a sentence, written as `2-3` or `2p3` and counted from 1."""
    links: dict[str, set[Link]] = {"-": set(), "p": set()}
    for word in line.split():
        found = re.fullmatch(r"([1-9]\d*)([-p])([1-9]\d*)", word)
        if not found:
            raise _not_a_link(word, where)
        links[found[2]].add((int(found[1]) - 1, int(found[3]) - 1))
    return GoldLinks(frozenset(links["-"]), frozenset(links["p"]))


def _sides(line: str, where: str) -> tuple[list[str], list[str]]:
    """Return the words of both sides of a line."""
    sides = line.split("|||")
    if len(sides) != 2:
        raise ManyheadsError("this line is not a pair.", where=where, cure="Write: source words ||| target words")
    return sides[0].split(), sides[1].split()


def _lines(name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file, each with its place."""
    file = resolve(f"{FOLDER}/{name}")
    if not file.exists():
        raise ManyheadsError("this gold alignment is missing.", where=str(file), cure=f"It is from {ORIGIN}.")
    for number, line in enumerate(read_lines(file), start=1):
        yield f"{file}:{number}", line


def _require_as_many(name: str, first: int, second: int) -> None:
    """Raise an error if the files of a corpus do not belong together."""
    if first != second:
        raise ManyheadsError(
            f"these files have {first:,} and {second:,} sentences.", where=f"{FOLDER}/{name}", cure="Fetch them again."
        )


def _not_a_link(text: str, where: str) -> ManyheadsError:
    """Return the error for something in place of a link."""
    return ManyheadsError(f"'{text}' is not a link of a gold alignment.", where=where)


def first_pairs(corpus: GoldCorpus, count: int | None) -> list[GoldPair]:
    """Return the first pairs of a corpus that have words on both sides."""
    return [pair for pair in corpus.read() if pair.source and pair.target][:count]
