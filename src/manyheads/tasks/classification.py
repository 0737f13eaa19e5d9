"""Classification: the label of a text or of a pair of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from manyheads.config.tasks.classification import ClassificationRecipe
from manyheads.data.batches.examples import LabelledRows, labelled
from manyheads.data.text.records import Example
from manyheads.encoding.encoder import Encoder
from manyheads.metrics.scores import Score
from manyheads.tasks.loss import smoothed_loss
from manyheads.tasks.reading import ExampleTensors, ReadingObjective, ReadingTask


class ClassificationObjective(ReadingObjective):
    """Predict the label of a text or of a pair."""

    def forward(self, batch: ExampleTensors) -> tuple[Tensor, int]:
        """Return the summed smoothed loss over the examples, and their number."""
        logits = self.model.label_logits(self.states(batch.inputs))
        return smoothed_loss(logits.float(), batch.targets, smoothing=self.smoothing), len(batch.targets)


class ClassificationTask(ReadingTask[ClassificationRecipe]):
    """A prepared run for classification."""

    name: ClassVar[str] = "classification"
    objective_class = ClassificationObjective
    has_pooler = True

    @classmethod
    def labels_of(cls, examples: Sequence[Example]) -> tuple[str, ...]:
        """Return the different labels of the training examples."""
        return tuple(sorted({one.answer for one in examples}))

    @classmethod
    def outputs_for(cls, labels: Sequence[str]) -> int:
        """One output for each label."""
        return len(labels)

    def rows_of(self, examples: list[Example], *, where: str) -> LabelledRows:
        """Return examples with the numbers of their labels."""
        longest = self.recipe.data.max_length
        return labelled(examples, self.tokenizer, self.config.labels, longest=longest, where=where)

    @classmethod
    def outputs(cls, encoder: Encoder, examples: Sequence[Example], *, longest: int) -> list[str]:
        """Return the most probable label of every example."""
        return [one.name for one in encoder.classify([one.given for one in examples], longest=longest)]

    @classmethod
    def scores(cls, outputs: Sequence[str], answers: Sequence[str]) -> list[Score]:
        """Return the accuracy in percent."""
        right = sum(one == other for one, other in zip(outputs, answers, strict=True))
        return [Score("accuracy", 100.0 * right / len(answers))]
