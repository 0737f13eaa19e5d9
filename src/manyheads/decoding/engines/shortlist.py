"""A vocabulary shortlist: for each source token, the few target tokens that are likely translations of it.

A search then scores only the candidates of its source tokens and the most frequent target tokens, instead of the whole
vocabulary. This saves most of the cost of the output layer. Translation probabilities are learned from the training
pairs by IBM Model 1 (`data/lexicons/word_translations.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import write_file
from manyheads.runs.weights import read_weights, weights_bytes

PAIRS = 100_000  # training pairs to learn from: enough, and they fit into memory
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Shortlist:
    """The likely target ids of each source id [Vs, K] (padded with −1), and the target ids that are always allowed."""

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
        """Learn from pairs of source and target ids.

        `each` is the number of target ids per source id, and `frequent` the number of most frequent target ids that
        are always allowed.
        """
        from manyheads.data.lexicons.word_translations import learn_translations  # not needed to use a shortlist

        words = learn_translations(pairs, vocabularies=vocabularies)
        likely = _best(words.sources, words.targets, words.probabilities, vocabularies[0], each)
        counts = words.target_counts
        most = np.argsort(-counts, kind="stable")[:frequent]
        return cls(likely, np.sort(most[counts[most] > 0]))

    def write(self, path: Path) -> None:
        """Write the shortlist to a file."""
        write_file(path, weights_bytes({"likely": self.likely, "always": self.always}))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a shortlist from its file."""
        if not path.exists():
            raise ManyheadsError(
                "this run has no shortlist.", where=str(path), cure="Make one: manyheads shortlist RUN"
            )
        arrays = read_weights(path)
        return cls(arrays["likely"].astype(np.int64), arrays["always"].astype(np.int64))

    def ctranslate2_map(self, names: Sequence[str]) -> bytes:
        """Return CTranslate2's `vmap.txt`: per line a source token, a tab and its target tokens.

        The line without a source token has the target tokens that are always allowed.
        """
        rows = [("", self.always), *((names[source], row[row >= 0]) for source, row in enumerate(self.likely))]
        lines = [f"{word}\t{' '.join(names[target] for target in row)}\n" for word, row in rows if len(row)]
        return "".join(lines).encode("utf-8")


def _best(sources: Ids, targets: Ids, likely: NDArray[np.float64], vocabulary: int, each: int) -> Ids:
    """Return the most probable target ids of each source id [Vs, K], padded with −1."""
    order = np.lexsort((-likely, sources))
    sources, targets = sources[order], targets[order]
    begins = np.searchsorted(sources, np.arange(vocabulary))
    ranks = np.arange(len(sources)) - begins[sources]
    kept = ranks < each
    table = np.full((vocabulary, each), -1, dtype=np.int64)
    table[sources[kept], ranks[kept]] = targets[kept]
    return table
