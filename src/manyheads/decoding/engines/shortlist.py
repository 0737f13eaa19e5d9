"""A vocabulary shortlist: for each source token the few target tokens it is likely to become.

A search then compares only the tokens that the words of its sentence suggest, and the most frequent ones, instead of
the whole vocabulary, which saves most of the output layer. What translates what is learned from the training pairs by
IBM Model 1 (`data/lexicons/word_translations.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyheads.data.lexicons.word_translations import learn_translations
from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import write_file
from manyheads.runs.weights import read_weights, weights_bytes

PAIRS = 100_000  # are plenty, and fit into memory
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Shortlist:
    """The likely target ids of each source id [Vs, K] (−1 where there are fewer), and those that are always allowed."""

    likely: Ids
    always: Ids

    @classmethod
    def learn(
        cls,
        pairs: Iterable[tuple[Sequence[int], Sequence[int]]],
        *,
        vocabularies: tuple[int, int],
        each: int = 50,
        frequent: int = 100,
    ) -> Self:
        """Learn from pairs of source and target ids: so many for each source id, and so many of the most frequent."""
        words = learn_translations(pairs, vocabularies=vocabularies)
        likely = _best(words.sources, words.targets, words.probabilities, vocabularies[0], each)
        counts = words.target_counts
        most = np.argsort(-counts, kind="stable")[:frequent]
        return cls(likely, np.sort(most[counts[most] > 0]))

    def write(self, path: Path) -> None:
        """Write it as a file."""
        write_file(path, weights_bytes({"likely": self.likely, "always": self.always}))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read it from its file."""
        if not path.exists():
            raise ManyheadsError(
                "this run has no shortlist.", where=str(path), cure="Make one: manyheads shortlist RUN"
            )
        arrays = read_weights(path)
        return cls(arrays["likely"].astype(np.int64), arrays["always"].astype(np.int64))

    def ctranslate2_map(self, names: Sequence[str]) -> bytes:
        """Return CTranslate2's `vmap.txt`: a source token, a tab, target tokens; no source token means always."""
        rows = [("", self.always), *((names[source], row[row >= 0]) for source, row in enumerate(self.likely))]
        lines = [f"{word}\t{' '.join(names[one] for one in row)}\n" for word, row in rows if len(row)]
        return "".join(lines).encode("utf-8")


def _best(sources: Ids, targets: Ids, likely: NDArray[np.float64], vocabulary: int, each: int) -> Ids:
    """Return the most probable target ids of each source id [Vs, K], filled up with −1."""
    order = np.lexsort((-likely, sources))
    sources, targets = sources[order], targets[order]
    begins = np.searchsorted(sources, np.arange(vocabulary))
    ranks = np.arange(len(sources)) - begins[sources]
    kept = ranks < each
    table = np.full((vocabulary, each), -1, dtype=np.int64)
    table[sources[kept], ranks[kept]] = targets[kept]
    return table
