"""Who translates whom: alignments from the cross-attention of chosen heads, in Pharaoh format.

    aligned = align(inspector.everything("a small dog"), heads=[(2, 1), (2, 4)])
    aligned.pharaoh(level="word")    # '0-0 1-1 2-2': source word, target word, both counted from 0

The weights of the chosen heads are averaged, and each target token is aligned with the source token it looks at most;
special tokens take no part. A word is aligned as the sum over its source pieces and the mean over its target pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.data.tokens.tokenizers import SPACE
from manyheads.errors import ManyheadsError
from manyheads.inspection.views import Array, Everything, place_of, rounded

Head = tuple[int, int]
"""A layer and a head in it, both counted from 1."""

Level = Literal["word", "token"]
END = "</s>"


@dataclass(frozen=True)
class Alignment:
    """How much each target token [T] looks at each source token [S] in the mean of some heads; both end with `</s>`."""

    source_tokens: list[str]
    target_tokens: list[str]
    weights: Array

    def pairs(self, level: Level = "word") -> list[tuple[int, int]]:
        """Return (source, target) for each target word or token, in the order of the target."""
        weights = self.word_weights() if level == "word" else self._plain()
        if weights.shape[1] == 0:
            return []
        return [(int(source), target) for target, source in enumerate(weights.argmax(axis=1))]

    def pharaoh(self, level: Level = "word") -> str:
        """Return the pairs as Marian, fast_align and awesome-align write them: '0-0 1-2 …'."""
        return pharaoh([self], level)

    def word_weights(self) -> Array:
        """Return how much each target word looks at each source word [target words, source words]."""
        plain = self._plain()
        into_source = _membership(self.source_tokens[: plain.shape[1]])  # [words, S]
        into_target = _membership(self.target_tokens[: plain.shape[0]])  # [words, T]
        pieces = into_target.sum(axis=1, keepdims=True)
        weights: Array = (into_target @ plain @ into_source.T / np.maximum(pieces, 1)).astype(np.float32)
        return weights

    def words(self) -> tuple[list[str], list[str]]:
        """Return the source words and the target words, as they are counted."""
        plain = self._plain()
        return _words(self.source_tokens[: plain.shape[1]]), _words(self.target_tokens[: plain.shape[0]])

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "weights": rounded(self.weights),
            "words": self.pharaoh("word"),
            "tokens": self.pharaoh("token"),
        }

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it."""
        from manyheads.inspection.fragments import alignment_fragment

        return alignment_fragment(self)

    def _plain(self) -> Array:
        """Return the weights without the rows and columns of the end tokens."""
        rows = len(self.target_tokens) - (self.target_tokens[-1:] == [END])
        columns = len(self.source_tokens) - (self.source_tokens[-1:] == [END])
        return self.weights[:rows, :columns]


def pharaoh(sentences: Iterable[Alignment], level: Level = "word") -> str:
    """Return the pairs of sentences that follow each other, counted through all of them."""
    pairs: list[str] = []
    read = written = 0
    for one in sentences:
        pairs += [f"{source + read}-{target + written}" for source, target in one.pairs(level)]
        weights = one.word_weights() if level == "word" else one._plain()
        read, written = read + weights.shape[1], written + weights.shape[0]
    return " ".join(pairs)


def align(seen: Everything, heads: Sequence[Head] | None = None) -> Alignment:
    """Return the mean of chosen heads of the cross-attention; without a choice, of all heads of the last layer."""
    layers, count = seen.layers["cross"], seen.heads
    if not layers:
        raise ManyheadsError("this model does not write, so there is nothing to align.")
    chosen = heads or [(layers, head) for head in range(1, count + 1)]
    places = [(place_of(layer, layers, "layer"), place_of(head, count, "head")) for layer, head in chosen]
    weights = np.mean([seen.attention["cross"][place] for place in places], axis=0)
    return Alignment(seen.source_tokens, seen.target_tokens, weights)


def read_heads(text: str) -> list[Head]:
    """Read a list of heads such as '2:1,2:4': layer and head, both counted from 1."""
    found = [re.fullmatch(r"\s*(\d+):(\d+)\s*", part) for part in text.split(",")]
    if not all(found):
        raise ManyheadsError(
            f"'{text}' is no list of heads.", where="heads", cure="Write layer:head, such as 2:1 or 2:1,2:4."
        )
    return [(int(one[1]), int(one[2])) for one in found if one]


def _word_numbers(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return which word each token belongs to [T]: one begins at each sign for a space, and one at the first token."""
    begins = [place == 0 or token.startswith(SPACE) for place, token in enumerate(tokens)]
    return np.cumsum(begins, dtype=np.int64) - 1


def _membership(tokens: Sequence[str]) -> Array:
    """Return 1 where a token belongs to a word [words, T]."""
    numbers = _word_numbers(tokens)
    words = int(numbers[-1]) + 1 if len(numbers) else 0
    belongs: Array = (np.arange(words)[:, None] == numbers[None, :]).astype(np.float32)
    return belongs


def _words(tokens: Sequence[str]) -> list[str]:
    """Return the words that tokens spell, without the signs for spaces."""
    numbers = _word_numbers(tokens)
    spelled = ["" for _ in range(int(numbers[-1]) + 1 if len(numbers) else 0)]
    for number, token in zip(numbers, tokens, strict=True):
        spelled[number] += token.removeprefix(SPACE)
    return spelled
