"""Word alignments from the cross-attention of chosen heads at a chosen step, in Pharaoh format.

    aligned = align(inspector.everything("a small dog"), heads=[(1, 1), (1, 4)], step="input")
    aligned.pharaoh(level="word")    # '0-0 1-1 2-2': source word, target word, both counted from 0

The weights of the chosen heads are averaged, and each target token is aligned with the source token of the largest
weight; end tokens are excluded. `config.alignment` says what the two steps are. The weight of two words is the sum over
the source pieces and the mean over the target pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyheads.config.alignment import Step, default_step
from manyheads.data.tokens.tokenizers import SPACE
from manyheads.decoding.aligning import rows_at
from manyheads.errors import ManyheadsError
from manyheads.inspection.views import Array, Everything, index_of, rounded

Head = tuple[int, int]
"""A layer and a head in it, both counted from 1."""

Level = Literal["word", "token"]
END = "</s>"


@dataclass(frozen=True)
class Alignment:
    """The mean attention weights [T, S] of some heads from target to source tokens; both normally end with `</s>`."""

    source_tokens: list[str]
    target_tokens: list[str]
    weights: Array

    def pairs(self, level: Level = "word") -> list[tuple[int, int]]:
        """Return (source, target) for each target word or token, in the order of the target."""
        weights = self._level_weights(level)
        if weights.shape[1] == 0:
            return []
        return [(int(source), target) for target, source in enumerate(weights.argmax(axis=1))]

    def pharaoh(self, level: Level = "word") -> str:
        """Return the pairs in the format of Marian, fast_align and awesome-align: '0-0 1-2 …'."""
        return pharaoh([self], level)

    def word_weights(self) -> Array:
        """Return the weights from target words to source words [target words, source words]."""
        tokens = self.token_weights()
        source_words = _membership(self.source_tokens[: tokens.shape[1]])  # [words, S]
        target_words = _membership(self.target_tokens[: tokens.shape[0]])  # [words, T]
        pieces = target_words.sum(axis=1, keepdims=True)
        weights: Array = (target_words @ tokens @ source_words.T / np.maximum(pieces, 1)).astype(np.float32)
        return weights

    def token_weights(self) -> Array:
        """Return the weights without the rows and columns of the end tokens."""
        rows = len(self.target_tokens) - (self.target_tokens[-1:] == [END])
        columns = len(self.source_tokens) - (self.source_tokens[-1:] == [END])
        return self.weights[:rows, :columns]

    def shape(self, level: Level) -> tuple[int, int]:
        """Return the number of target and of source words or tokens."""
        rows, columns = self._level_weights(level).shape
        return rows, columns

    def words(self) -> tuple[list[str], list[str]]:
        """Return the source words and the target words, in the order in which they are counted."""
        rows, columns = self.shape("token")
        return _words(self.source_tokens[:columns]), _words(self.target_tokens[:rows])

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "weights": rounded(self.weights),
            "words": self.pharaoh("word"),
            "tokens": self.pharaoh("token"),
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import alignment_fragment

        return alignment_fragment(self)

    def _level_weights(self, level: Level) -> Array:
        """Return the weights between words or between tokens."""
        return self.word_weights() if level == "word" else self.token_weights()


def pharaoh(sentences: Iterable[Alignment], level: Level = "word") -> str:
    """Return the pairs of consecutive sentences, numbered through all of them."""
    pairs: list[str] = []
    source_offset = target_offset = 0
    for sentence in sentences:
        pairs += [f"{source + source_offset}-{target + target_offset}" for source, target in sentence.pairs(level)]
        targets, sources = sentence.shape(level)
        source_offset, target_offset = source_offset + sources, target_offset + targets
    return " ".join(pairs)


def align(seen: Everything, heads: Sequence[Head] | None = None, *, step: Step | None = None) -> Alignment:
    """Return the mean cross-attention of chosen heads at the step that reads or writes a token.

    By default, those that the run's recipe names (`decoding.alignment`). Chosen heads align at the input step by
    default, unless one of them is in the last layer.
    """
    layers, count = seen.layers["cross"], seen.heads
    if not layers:
        raise ManyheadsError("this model has no cross-attention, so there is nothing to align.")
    if heads is None:
        own = seen.alignment.resolved(layers=layers, heads=count)
        indices, step = [(own.layer, head) for head in own.heads], step or own.step
    else:
        indices = [(index_of(layer, layers, "layer"), index_of(head, count, "head")) for layer, head in heads]
        step = step or default_step(last=any(layer == layers - 1 for layer, _ in indices))
    weights = np.mean([seen.attention["cross"][index] for index in indices], axis=0)
    return Alignment(seen.source_tokens, seen.target_tokens, np.stack(rows_at(step, weights)))


def read_heads(text: str) -> list[Head]:
    """Parse a list of heads such as '2:1,2:4': layer and head, both counted from 1."""
    matches = [re.fullmatch(r"\s*(\d+):(\d+)\s*", part) for part in text.split(",")]
    if not all(matches):
        raise ManyheadsError(
            f"'{text}' is not a list of heads.", where="heads", cure="Write layer:head, such as 2:1 or 2:1,2:4."
        )
    return [(int(match[1]), int(match[2])) for match in matches if match]


def _word_numbers(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of the word of each token [T]; a word begins at the first token and at each space marker."""
    begins = [index == 0 or token.startswith(SPACE) for index, token in enumerate(tokens)]
    return np.cumsum(begins, dtype=np.int64) - 1


def _membership(tokens: Sequence[str]) -> Array:
    """Return a matrix [words, T] with 1 where a token belongs to a word, and 0 elsewhere."""
    numbers = _word_numbers(tokens)
    words = int(numbers[-1]) + 1 if len(numbers) else 0
    membership: Array = (np.arange(words)[:, None] == numbers[None, :]).astype(np.float32)
    return membership


def _words(tokens: Sequence[str]) -> list[str]:
    """Return the words that tokens form, without space markers."""
    numbers = _word_numbers(tokens)
    words = ["" for _ in range(int(numbers[-1]) + 1 if len(numbers) else 0)]
    for number, token in zip(numbers, tokens, strict=True):
        words[number] += token.removeprefix(SPACE)
    return words
