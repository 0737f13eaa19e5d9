"""Where a placeholder belongs in the output for a sentence without it, by the attention of the model.

The tokens of the source before the placeholder should be before it in the output, and those after it after it. So the
place is the one with the most attention on the right side:

    argmax_g  Σ_{t<g} Σ_s A[t, s]·w(s),    w(s) = λ^(tokens between s and the placeholder), negative after it

With λ < 1, the nearest tokens count most. At the ends of a sentence, the punctuation decides; without attention, the
share of the source before the placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from manyheads.data.tokens.tokenizers import Tokenizer

# λ: 0.2 to 1 are worth the same to 0.1 chrF on strings of software; from 0.5 on, far words outvote near ones.
NEARNESS = 0.4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


class Placing:
    """The places in one output.

    Args:
        source: What the model has read.
        source_ends: The offset at which each of its tokens ends.
        output: What the model has written.
        output_ends: The offset at which each of its tokens ends.
        attention: The attention of each output token to each source token [T, S], if it is known.
    """

    def __init__(
        self,
        source: str,
        source_ends: Sequence[int],
        output: str,
        output_ends: Sequence[int],
        attention: Sequence[Sequence[float]] | None,
    ) -> None:
        self._source, self._output = source, output
        self._source_ends, self._output_ends = source_ends, output_ends
        self._attention = None if attention is None else np.asarray(attention)
        words = list(_WORD.finditer(output))
        self._boundaries = sorted({0, *(word.start() for word in words), *(word.end() for word in words)})

    def of(self, offset: int, *, minimum: int = 0) -> int:
        """Return the place in the output for an offset of the source, at or after `minimum`."""
        before, after = self._source[:offset], self._source[offset:]
        if not _has_word(before):
            place = 0 if not before.strip() else _first_word(self._output)
        elif not _has_word(after):
            ends_alike = not after.strip() and not before.rstrip()[-1:].isalnum()
            place = len(self._output) if ends_alike else _end_of_last_word(self._output)
        else:
            place = self._within(offset, [one for one in self._boundaries if one >= minimum])
        return min(max(place, minimum), len(self._output))

    def _within(self, offset: int, boundaries: Sequence[int]) -> int:
        """Return the best boundary for an offset inside of the source."""
        if self._attention is None:
            share = offset / len(self._source) * len(self._output)
            return min(boundaries, key=lambda one: abs(one - share), default=len(self._output))
        cut = sum(end <= offset for end in self._source_ends)
        distances = np.arange(len(self._source_ends)) - cut
        weights = np.where(distances < 0, NEARNESS ** (-1.0 - distances), -(NEARNESS**distances))
        rows = self._attention[: len(self._output_ends), : len(weights)] @ weights
        gains = [0.0, *accumulate(rows.tolist())]
        return max(
            boundaries, key=lambda one: gains[sum(end <= one for end in self._output_ends)], default=len(self._output)
        )


def token_ends(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> list[int]:
    """Return the offset of a text at which each of its tokens, given without special ones, ends.

    Where the tokenizer has normalised the text, offsets are in proportion.
    """
    ends = [len(one) for one in tokenizer.decode_all([ids[: count + 1] for count in range(len(ids))])]
    scale = len(text) / max(1, ends[-1] if ends else 1)
    not_beyond = list(accumulate(reversed(ends), min))  # part of a letter is read as several signs
    return [round(end * scale) for end in reversed(not_beyond)]


def _has_word(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def _first_word(text: str) -> int:
    """Return the offset of the first letter or digit."""
    return next((offset for offset, one in enumerate(text) if one.isalnum()), 0)


def _end_of_last_word(text: str) -> int:
    """Return the offset behind the last letter or digit."""
    return next((offset for offset in range(len(text), 0, -1) if text[offset - 1].isalnum()), len(text))
