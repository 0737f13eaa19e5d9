"""Batches of questions about facts: rectangles of word ids, and the answers.

Different questions have the same facts, so a corpus is a table of its different sentences, and a story is a row of
numbers of sentences. The empty memories of the temporal noise are drawn here, from the seed and the number of the batch
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.data.batches.shuffling import RandomOrder
from manyheads.data.text.stories import StoryQuestion
from manyheads.data.tokens.word_list import WordList

EMPTY = 0  # the number of the sentence without words
NO_ANSWER = -1

Ids = NDArray[np.int64]


class MemoryBatch(NamedTuple):
    """The different sentences [N, J], facts [B, M], number of memories [B], questions [B, Q] and answers [B].

    Sentences and questions are word ids, facts are numbers of sentences, the most recent first. `examples` [B] are the
    indices of the questions.
    """

    sentences: Ids
    facts: Ids
    counts: Ids
    questions: Ids
    answers: Ids
    examples: Ids


@dataclass(frozen=True)
class MemoryRows:
    """Questions as numbers: the different sentences as word ids [N, J], and by them facts, questions and answers.

    `facts` has the sentences of each question, the most recent first.
    """

    examples: list[StoryQuestion]
    sentences: Ids
    lengths: Ids
    facts: list[Ids]
    questions: Ids
    answers: Ids

    def __len__(self) -> int:
        return len(self.examples)

    @classmethod
    def of(cls, examples: list[StoryQuestion], words: WordList) -> MemoryRows:
        """Return questions as numbers; an answer that is not in the list of words is −1."""
        table: dict[str, int] = {"": EMPTY}
        facts = [
            np.array([table.setdefault(fact, len(table)) for fact in reversed(one.facts)], np.int64) for one in examples
        ]
        questions = np.array([table.setdefault(one.question, len(table)) for one in examples], np.int64)
        ids = [words.ids(sentence) for sentence in table]
        lengths = np.array([len(one) for one in ids])
        sentences = np.zeros((len(ids), max(1, int(lengths.max()))), np.int64)
        for row, one in zip(sentences, ids, strict=True):
            row[: len(one)] = one
        known = (None if one.answer is None else words.answer_id(one.answer) for one in examples)
        answers = np.array([NO_ANSWER if one is None else one for one in known], np.int64)
        return cls(examples, sentences, lengths, facts, questions, answers)

    def lay_out(self, numbers: Ids, places: Sequence[Ids] | None = None, *, memory: int = 0) -> MemoryBatch:
        """Return the examples [B] as a batch; `places` are the memories that each fact takes, one after the other."""
        facts = [self.facts[i] for i in numbers]
        if places is None:
            places = [np.arange(len(row)) for row in facts]
        counts = np.array([row[-1] + 1 for row in places], np.int64)
        if memory:
            counts = np.minimum(counts, memory)
        filled = np.full((len(facts), int(counts.max())), EMPTY, np.int64)
        for row, sentences, where in zip(filled, facts, places, strict=True):
            inside = where < filled.shape[1]
            row[where[inside]] = sentences[inside]
        questions = self.questions[numbers]
        different, facts_by_number = np.unique(filled, return_inverse=True)
        longest, width = (max(1, int(self.lengths[some].max())) for some in (different, questions))
        return MemoryBatch(
            self.sentences[different, :longest],
            facts_by_number.reshape(filled.shape),
            counts,
            self.sentences[questions, :width],
            self.answers[numbers],
            numbers,
        )


class MemoryBatches:
    """The endless sequence of a run's batches; `batches[i]` is always the same.

    With noise, empty memories stand between the facts: n facts are in n + e memories, where e is drawn from 0 to the
    share `noise` of n, rounded up. What is then beyond the memory is left out.
    """

    def __init__(self, rows: MemoryRows, *, size: int, memory: int, noise: float, seed: int) -> None:
        self._rows, self._memory, self._noise, self._seed = rows, memory, noise, seed
        count = len(rows)
        self._cuts = [*range(0, count - size + 1, size)] or [0]
        self._cuts.append(self._cuts[-1] + min(size, count))

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch."""
        return len(self._cuts) - 1

    def __getitem__(self, index: int) -> MemoryBatch:
        """Return batch `index` of the run, counted from 0 through all epochs."""
        epoch, place = divmod(index, self.per_epoch)
        begin, end = list(pairwise(self._cuts))[place]
        numbers = RandomOrder(len(self._rows), self._seed, epoch)(np.arange(begin, end))
        if not self._noise:
            return self._rows.lay_out(numbers)
        random = np.random.default_rng((self._seed % (1 << 32), index))
        counts = [len(self._rows.facts[i]) for i in numbers]
        places = [places_with_noise(count, self._noise, random) for count in counts]
        return self._rows.lay_out(numbers, places, memory=self._memory)


def places_with_noise(count: int, noise: float, random: np.random.Generator) -> Ids:
    """Return the memories [n] that n facts take, in their order, if empty memories stand between them."""
    empty = int(random.integers(0, int(np.ceil(noise * count)), endpoint=True))
    return np.sort(random.permutation(count + empty)[:count])
