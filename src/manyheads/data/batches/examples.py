"""Batches for models that read: rows of tokens, and what is to be found out about them.

Which examples make batch *i* is decided as for translation (`batching`): by length, shuffled by the seed, seekable.
What a language model must guess is drawn here, by the seed and *i* alone, so that every epoch hides other tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.config.bert import MaskingSettings
from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.pairs import Batches, SpecialTokens
from manyheads.data.batches.store import Side, Tally
from manyheads.data.text.records import Example
from manyheads.data.tokens.wordpiece import MASK, Rectangles, Row, WordPiece
from manyheads.errors import ManyheadsError

NOTHING = -1  # a target that is not to be predicted


class BertBatch(NamedTuple):
    """What the model reads, [B, S] each, and what it should find.

    `targets` is [B] (labels), [B, 2] (first and last token of an answer) or [B, S] (tokens, −1 where none is wanted).
    `pairs` [B] says which examples they are.
    """

    inputs: Rectangles
    targets: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """Rows with what is to be found in each: a label, a first and last token, or nothing yet."""

    examples: list[Example]
    rows: list[Row]
    targets: NDArray[np.int64]
    lost: int = 0  # examples whose answer was cut off with the end of their context

    def __len__(self) -> int:
        return len(self.rows)


def labelled(
    examples: Sequence[Example], tokenizer: WordPiece, labels: Sequence[str], *, longest: int, where: str
) -> Task:
    """Return examples as rows with the numbers of their labels; labels that nobody knows are all named."""
    unknown = sorted({one.answer for one in examples} - set(labels))
    if unknown:
        raise ManyheadsError(f"these labels do not occur in training: {', '.join(unknown)}.", where=where)
    rows = tokenizer.encode([one.given for one in examples], longest=longest)
    numbers = {label: number for number, label in enumerate(labels)}
    return Task(list(examples), rows, np.array([numbers[one.answer] for one in examples]))


def located(examples: Sequence[Example], tokenizer: WordPiece, *, longest: int, where: str) -> Task:
    """Return questions as rows with the first and last token of the answer; without those whose answer was cut off."""
    rows = tokenizer.encode([one.given for one in examples], longest=longest)
    spans = [token_span(row, one) for row, one in zip(rows, examples, strict=True)]
    kept = [number for number, span in enumerate(spans) if span is not None]
    if not kept:
        raise ManyheadsError("no answer is left.", where=where, cure="Raise data.max_length.")
    return Task(
        [examples[i] for i in kept],
        [rows[i] for i in kept],
        np.array([spans[i] for i in kept]),
        lost=len(examples) - len(kept),
    )


def token_span(row: Row, example: Example) -> tuple[int, int] | None:
    """Return the first and last token of the answer, or nothing where it was cut off."""
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


def unlabelled(examples: Sequence[Example], tokenizer: WordPiece, *, longest: int) -> Task:
    """Return texts as rows in which tokens will be hidden."""
    rows = tokenizer.encode([one.given for one in examples], longest=longest)
    return Task(list(examples), rows, np.full(len(rows), NOTHING))


Layout = Callable[[NDArray[np.int64], int], BertBatch]


class BertBatches:
    """The endless sequence of a run's batches; `batches[i]` is the same whenever it is asked for."""

    def __init__(self, task: Task, layout: Layout, *, tokens: int, seed: int) -> None:
        store = Mixture([_Lengths(task.rows)], [1.0])
        self._order = Batches(store, tokens=tokens, seed=seed, special=SpecialTokens(pad=0, start=0))
        self._layout = layout

    @property
    def per_epoch(self) -> int:
        """How many batches make an epoch."""
        return self._order.per_epoch

    def __getitem__(self, index: int) -> BertBatch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        return self._layout(self._order[index].pairs, index)


def plain_layout(task: Task, tokenizer: WordPiece) -> Layout:
    """Return how to lay out examples whose targets are known."""

    def lay_out(numbers: NDArray[np.int64], index: int) -> BertBatch:
        """Lay the examples [B] out."""
        return BertBatch(tokenizer.lay_out([task.rows[i] for i in numbers]), task.targets[numbers], numbers)

    return lay_out


def masked_layout(task: Task, tokenizer: WordPiece, settings: MaskingSettings, *, seed: int) -> Layout:
    """Return how to lay out texts in which tokens are hidden, others in every batch."""

    def lay_out(numbers: NDArray[np.int64], index: int) -> BertBatch:
        """Lay the texts [B] out as batch `index`."""
        rows = [task.rows[i] for i in numbers]
        inputs = tokenizer.lay_out(rows)
        special = np.ones(inputs.input_ids.shape, dtype=bool)
        for place, row in enumerate(rows):
            special[place, : len(row)] = row.special
        random = np.random.default_rng((seed % (1 << 32), index))
        hidden, targets = mask_tokens(
            inputs.input_ids, special, settings, random, mask=tokenizer.special[MASK], vocabulary=len(tokenizer)
        )
        return BertBatch(inputs._replace(input_ids=hidden), targets, numbers)

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
    """Hide tokens as BERT does: of 15 % of them 80 % become [MASK], 10 % any token, and 10 % stay.

    Returns what the model reads and what it should say [B, S], −1 where nothing is asked for. Special tokens are never
    hidden; where a batch has others, at least one of them is.
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


class _Lengths:
    """Rows as `batching` sees them: their lengths, and nothing that they should become."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._lengths = np.array([len(row) for row in rows], dtype=np.int32)
        self.tally = Tally(pairs=len(rows))

    def __len__(self) -> int:
        return len(self._lengths)

    def lengths(self, side: Side) -> NDArray[np.int32]:
        """Return how many tokens each row has; the other side has one."""
        return self._lengths if side == "source" else np.ones_like(self._lengths)

    def tokens(self, side: Side) -> int:
        """Return how many tokens a side has in all."""
        return int(self.lengths(side).sum())

    def rows(
        self, side: Side, indices: NDArray[np.int64], *, padding: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return one token for each: what is really in a row is laid out by whoever asked for the batch."""
        return np.full((len(indices), 1), padding), np.ones(len(indices), dtype=np.int64)
