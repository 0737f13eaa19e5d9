"""Batches of examples for encoder models: rows of tokens, and their targets.

`order` chooses the examples of batch *i*, by length. The tokens that a masked language model has to predict are drawn
here, from the seed and *i* alone, so that every epoch masks different tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.config.tasks.masked_words import MaskingSettings
from manyheads.data.batches.order import LengthOrder
from manyheads.data.text.records import Example
from manyheads.data.tokens.wordpiece import MASK, Rectangles, Row, WordPiece
from manyheads.errors import ManyheadsError

NOTHING = -1  # a target that is not to be predicted


class ExampleBatch(NamedTuple):
    """The inputs of the model, [B, S] each, and their targets.

    `targets` is [B] (labels), [B, 2] (first and last token of an answer) or [B, S] (tokens, −1 where there is no
    target). `pairs` [B] are the indices of the examples.
    """

    inputs: Rectangles
    targets: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class LabelledRows:
    """Examples as rows of tokens, each with its target: a label, a first and last token, or no target yet."""

    examples: list[Example]
    rows: list[Row]
    targets: NDArray[np.int64]
    lost: int = 0  # examples whose answer was cut off with the end of their context

    def __len__(self) -> int:
        return len(self.rows)


def labelled(
    examples: Sequence[Example], tokenizer: WordPiece, labels: Sequence[str], *, longest: int, where: str
) -> LabelledRows:
    """Return examples as rows with the indices of their labels; one error names all unknown labels."""
    unknown = sorted({example.answer for example in examples} - set(labels))
    if unknown:
        raise ManyheadsError(f"these labels do not occur in training: {', '.join(unknown)}.", where=where)
    rows = tokenizer.encode([example.given for example in examples], longest=longest)
    numbers = {label: number for number, label in enumerate(labels)}
    return LabelledRows(list(examples), rows, np.array([numbers[example.answer] for example in examples]))


def located(examples: Sequence[Example], tokenizer: WordPiece, *, longest: int, where: str) -> LabelledRows:
    """Return questions as rows with the first and last token of the answer; truncated answers are left out."""
    rows = tokenizer.encode([example.given for example in examples], longest=longest)
    spans = [token_span(row, example) for row, example in zip(rows, examples, strict=True)]
    kept = [number for number, span in enumerate(spans) if span is not None]
    if not kept:
        raise ManyheadsError("no answer is left.", where=where, cure="Raise data.max_length.")
    return LabelledRows(
        [examples[i] for i in kept],
        [rows[i] for i in kept],
        np.array([spans[i] for i in kept]),
        lost=len(examples) - len(kept),
    )


def token_span(row: Row, example: Example) -> tuple[int, int] | None:
    """Return the first and last token of the answer, or None if it was cut off."""
    assert example.start is not None
    end = example.start + len(example.answer)
    inside = [
        number
        for number, (begin, stop) in enumerate(row.spans)
        if row.segments[number] == 1 and not row.special[number] and begin < end and stop > example.start
    ]
    if not inside or row.spans[inside[-1]][1] < end:
        return None
    return inside[0], inside[-1]


def unlabelled(examples: Sequence[Example], tokenizer: WordPiece, *, longest: int) -> LabelledRows:
    """Return texts as rows in which tokens will be masked."""
    rows = tokenizer.encode([example.given for example in examples], longest=longest)
    return LabelledRows(list(examples), rows, np.full(len(rows), NOTHING))


Layout = Callable[[NDArray[np.int64], int], ExampleBatch]
"""Builds the arrays of a batch from the indices [B] of its examples and its number."""


class ExampleBatches:
    """The endless sequence of a run's batches; `batches[i]` is always the same."""

    def __init__(self, rows: LabelledRows, layout: Layout, *, tokens: int, seed: int) -> None:
        lengths = np.array([len(row) for row in rows.rows], dtype=np.int32)
        self._order = LengthOrder(lengths, np.ones_like(lengths), tokens=tokens, seed=seed)
        self._layout = layout

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch."""
        return self._order.per_epoch

    def __getitem__(self, index: int) -> ExampleBatch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        return self._layout(self._order[index], index)


def plain_layout(labelled: LabelledRows, tokenizer: WordPiece) -> Layout:
    """Return the layout of examples whose targets are known."""

    def lay_out(numbers: NDArray[np.int64], index: int) -> ExampleBatch:
        """Lay the examples [B] out."""
        return ExampleBatch(tokenizer.lay_out([labelled.rows[i] for i in numbers]), labelled.targets[numbers], numbers)

    return lay_out


def masked_layout(labelled: LabelledRows, tokenizer: WordPiece, settings: MaskingSettings, *, seed: int) -> Layout:
    """Return the layout of texts in which tokens are masked, different ones in every batch."""

    def lay_out(numbers: NDArray[np.int64], index: int) -> ExampleBatch:
        """Lay the texts [B] out as batch `index`."""
        rows = [labelled.rows[i] for i in numbers]
        inputs = tokenizer.lay_out(rows)
        special = np.ones(inputs.input_ids.shape, dtype=bool)
        for place, row in enumerate(rows):
            special[place, : len(row)] = row.special
        random = np.random.default_rng((seed % (1 << 32), index))
        hidden, targets = mask_tokens(
            inputs.input_ids, special, settings, random, mask=tokenizer.special[MASK], vocabulary=len(tokenizer)
        )
        return ExampleBatch(inputs._replace(input_ids=hidden), targets, numbers)

    return lay_out


def mask_tokens(
    ids: NDArray[np.int64],
    special: NDArray[np.bool_],
    settings: MaskingSettings,
    random: np.random.Generator,
    *,
    mask: int,
    vocabulary: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Mask tokens as BERT does: of 15 % of the tokens 80 % become [MASK], 10 % a random token, and 10 % stay.

    Returns the inputs of the model and its targets [B, S], −1 where there is no target. Special tokens are never
    masked; if a batch has other tokens, at least one of them is.
    """
    draws = np.where(special, 2.0, random.random(ids.shape))
    chosen = draws < settings.share
    if not chosen.any() and not special.all():
        chosen.flat[draws.argmin()] = True  # else the loss would have no terms
    fate = random.random(ids.shape)
    anything = random.integers(vocabulary, size=ids.shape)
    hidden = np.where(chosen & (fate < settings.masked), mask, ids)
    replaced = chosen & (fate >= settings.masked) & (fate < settings.masked + settings.random)
    return np.where(replaced, anything, hidden), np.where(chosen, ids, NOTHING)
