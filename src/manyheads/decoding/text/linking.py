"""Which words of a sentence and of its translation belong together, by the attention of the model: for inline tags.

The attention between two words is that of their tokens, summed over the source word and averaged over the target word.
Each word of the translation is linked with the word of the source that it looks at most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.text.placing import token_ends
from manyheads.decoding.translator import Candidate
from manyheads.documents.split_text import Span
from manyheads.documents.tag_alignment import Link
from manyheads.documents.word_boundaries import WordBoundaries


def links_of(source: str, output: Candidate, tokenizers: Tokenizers) -> list[Link] | None:
    """Return the linked words of a sentence and an output for it; None if the attention is unknown."""
    if output.attention is None:
        return None
    return links(
        source,
        token_ends(tokenizers.source, tokenizers.source.encode(source), source),
        output.text,
        token_ends(tokenizers.target, output.tokens[: len(output.attention)], output.text),
        output.attention,
    )


def links(
    source: str,
    source_ends: Sequence[int],
    output: str,
    output_ends: Sequence[int],
    attention: Sequence[Sequence[float]],
) -> list[Link]:
    """Return the linked words of a sentence and an output, of which each token ends at an offset of its text.

    `attention` [T, S] may have rows and columns of end tokens behind those of the tokens.
    """
    weights = np.asarray([row[: len(source_ends)] for row in attention[: len(output_ends)]], dtype=np.float64)
    read, written = WordBoundaries(source).readable, WordBoundaries(output).readable
    if not (weights.size and read and written):
        return []
    between = _membership(written, output_ends, of_mean=True) @ weights @ _membership(read, source_ends).T
    return [Link(read[int(row.argmax())], word) for word, row in zip(written, between, strict=True) if row.any()]


def _membership(words: Sequence[Span], ends: Sequence[int], *, of_mean: bool = False) -> NDArray[np.float64]:
    """Return which tokens have characters of a word [words, tokens]; `of_mean` divides each row by its sum."""
    starts, stops = np.asarray([0, *ends[:-1]]), np.asarray(ends)
    begins, finishes = (np.asarray(side)[:, None] for side in zip(*words, strict=True))
    shared = ((starts < finishes) & (stops > begins)).astype(np.float64)
    return shared / np.maximum(shared.sum(axis=1, keepdims=True), 1) if of_mean else shared
