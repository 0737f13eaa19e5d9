"""The alignment error rate of Och and Ney (2003), for links between source and target words.

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

A are the links that were found, S those that people were sure of, and P those that they thought possible, all sure ones
included. It is computed over all sentences together.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""


@dataclass(frozen=True)
class GoldLinks:
    """The links of a sentence that people were sure of, and those that they thought possible besides."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    def reversed(self) -> GoldLinks:
        """Return the links from target to source words."""
        return GoldLinks(*(frozenset((j, i) for i, j in links) for links in (self.sure, self.possible)))


def link_counts(found: Set[Link], gold: GoldLinks) -> tuple[int, int]:
    """Return |A ∩ S| + |A ∩ P| and |A| + |S| of one sentence."""
    allowed = found & (gold.sure | gold.possible)
    return len(found & gold.sure) + len(allowed), len(found) + len(gold.sure)


def alignment_error_rate(found: Sequence[Set[Link]], gold: Sequence[GoldLinks]) -> float:
    """Return the alignment error rate of several sentences in percent; 0 where there is nothing to align."""
    counts = [link_counts(links, wanted) for links, wanted in zip(found, gold, strict=True)]
    right, total = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return 100.0 * (1.0 - right / total) if total else 0.0
