"""Joins neighbouring pairs into one example, so that a model is trained on more than one sentence at a time.

This is a view of a token store: its rows are alternately groups of two and of three pairs. The length of a group is the
sum of the lengths of its pairs, so joined examples are batched with others of similar length.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.mixture import Rows
from manyheads.data.batches.rectangles import Rectangle, rectangle, unpadded
from manyheads.data.batches.store import Side, Tally
from manyheads.data.tokens.tokenizers import END, Tokenizer, Tokenizers
from manyheads.documents.spacing import WITHOUT_SPACES

MEAN = 2.5  # pairs per group
SMALLEST = 5  # the least number of pairs in a corpus


class JoinedPairs:
    """Groups of neighbouring pairs of a token store, each joined into one example."""

    def __init__(
        self,
        rows: Rows,
        tokenizers: Tokenizers,
        *,
        prefix: str,
        languages: Mapping[Side, str | None],
        longest: int,
    ) -> None:
        """Join rows that begin with `prefix`, the tags of their corpus, up to `longest` tokens per side."""
        self._rows, self._prefix, self._longest = rows, prefix, longest
        self._tokenizers: dict[Side, Tokenizer] = {"source": tokenizers.source, "target": tokenizers.target}
        self._separators = {side: "" if code in WITHOUT_SPACES else " " for side, code in languages.items()}
        self._starts, self._counts = _groups(rows, longest)

    @property
    def tally(self) -> Tally:
        """The number of groups; what was left out is counted for the pairs themselves."""
        return Tally(pairs=len(self))

    def __len__(self) -> int:
        return len(self._starts)

    def lengths(self, side: Side) -> NDArray[np.int32]:
        """Return the approximate number of tokens of each group [groups], including the end token."""
        return np.minimum(_sums(self._rows.lengths(side), self._starts, self._counts), self._longest + 1)

    def tokens(self, side: Side) -> int:
        """Return the total number of tokens of a side."""
        return int(self.lengths(side).sum())

    def rows(self, side: Side, indices: NDArray[np.int64], *, padding: int) -> Rectangle:
        """Return the groups at the indices [B] as padded ids [B, S], and their lengths [B]."""
        starts, counts = self._starts[indices], self._counts[indices]
        members = np.concatenate([np.arange(start, start + n) for start, n in zip(starts, counts, strict=True)])
        tokenizer = self._tokenizers[side]
        texts = tokenizer.decode_all(unpadded(self._rows.rows(side, members, padding=padding)))
        ends = counts.cumsum()
        joined = [self._join(side, texts[end - n : end]) for end, n in zip(ends, counts, strict=True)]
        return rectangle([[*row[: self._longest], END] for row in tokenizer.encode_all(joined)], padding)

    def _join(self, side: Side, texts: list[str]) -> str:
        """Return texts as one text, with tags only at its beginning."""
        if side == "source" and self._prefix:
            texts = [texts[0], *(text.removeprefix(self._prefix).lstrip() for text in texts[1:])]
        return self._separators[side].join(texts)


def _groups(rows: Rows, longest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and the number of pairs of each group: two or three in turn, fewer if it would be too long."""
    whole = np.arange(0, len(rows) - SMALLEST + 1, SMALLEST)
    starts = np.stack([whole, whole + 2], axis=1).ravel()
    counts = np.tile([2, 3], len(whole))
    for _ in range(2):
        sums = np.maximum(*(_sums(rows.lengths(side), starts, counts) for side in ("source", "target")))
        counts = np.where((sums > longest) & (counts > 1), counts - 1, counts)
    return starts, counts


def _sums(lengths: NDArray[np.int32], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the lengths of groups, each with one end token."""
    cumulated = np.r_[0, lengths.cumsum(dtype=np.int64)]
    sums: NDArray[np.int64] = cumulated[starts + counts] - cumulated[starts] - (counts - 1)
    return sums.astype(np.int32)
