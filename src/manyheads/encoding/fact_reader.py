"""Answers to questions about facts, with a memory network or another model of facts.

reader = FactReader.from_folder("runs/babi")
(asked,) = reader.read(["Mary went to the office. Where is Mary?"], where="text")
reader.answer([asked])[0].text
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
import torch
from torch import Tensor

from manyheads.config.tasks.memory_questions import MemoryQuestionsConfig
from manyheads.data.batches.memories import MemoryBatch, MemoryRows
from manyheads.data.text.stories import StoryQuestion, read_questions
from manyheads.data.tokens.word_list import WordList
from manyheads.errors import ManyheadsError, Notice
from manyheads.models.interface import NO_WORD, FactModel, MemoryInputs
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device, load_model

BATCH = 256  # questions computed at once by default
SHOWN = 5  # words that a sentence names


@dataclass(frozen=True)
class FactAnswer:
    """The answer to a question about facts, and how probable the model finds it."""

    text: str
    probability: float


class FactReader:
    """Answers questions about facts.

    Args:
        model: The model. It is set to evaluation mode.
        words: Its words.
    """

    def __init__(self, model: FactModel, words: WordList) -> None:
        self.model, self.words = model.eval(), words

    @classmethod
    def from_folder(cls, folder: PathLike[str] | str, *, device: str = "auto") -> FactReader:
        """Load a run.

        Args:
            folder: A run folder.
            device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.

        Raises:
            ManyheadsError: If the run is one for another task.
        """
        run = RunFolder.open(folder)
        run.config_for(MemoryQuestionsConfig)
        return cls(load_model(FactModel, run, device=choose_device(device)), WordList.load(run.tokenizer_folder))

    def read(self, lines: Iterable[str], *, where: str) -> list[StoryQuestion]:
        """Return the questions in lines of facts and questions, checked against the model's words and its memory.

        Args:
            lines: Lines of the format of bAbI, of JSON, or of sentences.
            where: What they are, for messages.

        Raises:
            ManyheadsError: If there is no question, or one before any fact, or one with an unknown word.
        """
        asked = list(read_questions(lines, where=where, memory=self.model.memory))
        if not asked:
            raise ManyheadsError("there is no question.", where=where, cure="A question ends with a question mark.")
        for one in asked:
            if unknown := self.words.unknown(one.question):
                raise ManyheadsError(
                    f"the question '{one.question}' has words that never occurred in training: {_listed(unknown)}.",
                    where=where,
                )
        strange = dict.fromkeys(word for one in asked for fact in one.facts for word in self.words.unknown(fact))
        if strange:
            text = f"{where}: words that never occurred in training are left out of the facts: {_listed([*strange])}."
            warnings.warn(text, Notice, stacklevel=2)
        longest = max(one.dropped for one in asked)
        if longest:
            text = (
                f"{where}: the memory holds {self.model.memory} facts, so the {longest} oldest of a story are left out."
            )
            warnings.warn(text, Notice, stacklevel=2)
        return asked

    @torch.inference_mode()
    def answer(self, questions: Sequence[StoryQuestion], *, batch: int = BATCH) -> list[FactAnswer]:
        """Return the most probable answer to each question.

        Args:
            questions: The questions with their facts.
            batch: The number of questions that are computed together.
        """
        rows, found = MemoryRows.of(list(questions), self.words), []
        for begin in range(0, len(rows), batch):
            numbers = np.arange(begin, min(begin + batch, len(rows)))
            best = self.probabilities(rows.lay_out(numbers)).max(dim=-1)
            for number, share in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                found.append(FactAnswer(self.words.words[number], share))
        return found

    def probabilities(self, batch: MemoryBatch) -> Tensor:
        """Return the probabilities of the answers [B, V]; that of no word is 0."""
        logits: Tensor = self.model(inputs_of(batch).to(self.model.device))
        logits[:, NO_WORD] = -torch.inf
        return logits.softmax(dim=-1)


def inputs_of(batch: MemoryBatch) -> MemoryInputs:
    """Return a batch of arrays as the model reads it."""
    return MemoryInputs(*map(torch.from_numpy, (batch.sentences, batch.facts, batch.counts, batch.questions)))


def _listed(words: Sequence[str]) -> str:
    """Return the first words of a list, and how many others there are."""
    different = list(dict.fromkeys(words))
    more = f" and {len(different) - SHOWN:,} others" if len(different) > SHOWN else ""
    return ", ".join(different[:SHOWN]) + more
