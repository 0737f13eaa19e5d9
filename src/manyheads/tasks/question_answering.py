"""Question answering: where the answer to a question is in its context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from manyheads.config.tasks.question_answering import QuestionAnsweringRecipe
from manyheads.data.batches.examples import LabelledRows, located
from manyheads.data.text.records import Example
from manyheads.encoding.encoder import Encoder
from manyheads.metrics.answers import answer_f1, exact_answers
from manyheads.metrics.scores import Score
from manyheads.models.interface import EncoderInputs
from manyheads.tasks.reading import ExampleTensors, ReadingObjective, ReadingTask


class QuestionAnsweringObjective(ReadingObjective):
    """Find the first and the last token of the answer; each is one choice among all tokens of the sequence."""

    def forward(self, batch: ExampleTensors) -> tuple[Tensor, int]:
        """Return the summed mean of both losses over the questions, and their number."""
        logits = self.model.span_logits(self.states(batch.inputs)).float()
        padding = batch.inputs.attention_mask == 0
        scores = logits.masked_fill(padding[:, :, None], -torch.inf)  # [B, S, 2]
        # No smoothing here: it would put weight on padding, which has no probability at all.
        loss = F.cross_entropy(scores, batch.targets, reduction="sum")  # classes are on the second axis
        return loss / 2, len(batch.targets)


class QuestionAnsweringTask(ReadingTask[QuestionAnsweringRecipe]):
    """A prepared run for question answering."""

    name: ClassVar[str] = "question_answering"
    objective_class = QuestionAnsweringObjective

    @classmethod
    def outputs_for(cls, labels: Sequence[str]) -> int:
        """One output for the first token and one for the last."""
        return 2

    @classmethod
    def planned(cls, inputs: EncoderInputs) -> ExampleTensors:
        """Return a batch on the device `meta`."""
        return ExampleTensors(inputs, inputs.input_ids[:, :2])

    def rows_of(self, examples: list[Example], *, where: str) -> LabelledRows:
        """Return questions with the first and last token of their answers."""
        return located(examples, self.tokenizer, longest=self.recipe.data.max_length, where=where)

    @classmethod
    def outputs(cls, encoder: Encoder, examples: Sequence[Example], *, longest: int) -> list[str]:
        """Return the answer to every question."""
        asked = [(one.text, one.second or "") for one in examples]
        return [one.text for one in encoder.answer(asked, longest=longest)]

    @classmethod
    def scores(cls, outputs: Sequence[str], answers: Sequence[str]) -> list[Score]:
        """Return exact match and F1 in percent."""
        return [Score("exact_match", exact_answers(outputs, answers)), Score("f1", answer_f1(outputs, answers))]
