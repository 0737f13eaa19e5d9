"""How well a BERT does on examples it never learned from, by what its user would see: labels, answers, guesses."""

from __future__ import annotations

import torch

from manyheads.config.bert import METRICS, BertRecipe
from manyheads.data.batches.examples import BertBatches, Task
from manyheads.encoding.bert import Bert
from manyheads.encoding.measuring import outputs_of, scores_of
from manyheads.metrics.scores import Score
from manyheads.training.bert_objectives import BertObjective, MaskedLanguageModelObjective
from manyheads.training.validation import Findings, Sample


class BertValidator:
    """Measures a BERT on a fixed set of examples."""

    def __init__(
        self, recipe: BertRecipe, task: Task, batches: BertBatches, objective: BertObjective, bert: Bert
    ) -> None:
        self._recipe = recipe
        self._task = task
        self._batches = batches
        self._objective = objective
        self._bert = bert

    def run(self) -> Findings:
        """Validate the model as it is now."""
        self._objective.eval()
        try:
            loss = self.loss()
            outputs = self._outputs()
            scores = {"loss": loss, **self._scores(outputs)}
        finally:
            self._objective.train()
        examples = self._task.examples[: self._recipe.validation.samples] if outputs else []
        samples = [Sample(one.source, output, one.answer) for one, output in zip(examples, outputs, strict=False)]
        deciding = scores.pop(self._recipe.metric)
        return Findings(deciding, [scores[name] for name in METRICS[self._recipe.task] if name in scores], samples)

    @torch.inference_mode()
    def loss(self) -> Score:
        """Return the mean loss over the whole set."""
        total, count = 0.0, 0
        for index in range(self._batches.per_epoch):
            loss, terms = self._objective(self._objective.move(self._batches[index], self._bert.device))
            total, count = total + float(loss), count + terms
        return Score("loss", total / count, higher_is_better=False)

    def _outputs(self) -> list[str]:
        """Return what the model says of every example."""
        recipe = self._recipe
        return outputs_of(self._bert, recipe.task, self._task.examples, longest=recipe.data.max_length)

    def _scores(self, outputs: list[str]) -> dict[str, Score]:
        """Return the task's scores by name, in percent."""
        if self._recipe.task == "masked_language_model":
            found = [Score("accuracy", self._share_guessed())]
        else:
            found = scores_of(self._recipe.task, outputs, [one.answer for one in self._task.examples])
        return {score.name: score for score in found}

    @torch.inference_mode()
    def _share_guessed(self) -> float:
        """Return how many of the hidden tokens are guessed, in percent."""
        assert isinstance(self._objective, MaskedLanguageModelObjective)
        right = count = 0
        for index in range(self._batches.per_epoch):
            tensors = self._objective.move(self._batches[index], self._bert.device)
            guesses, truth = self._objective.guesses(tensors)
            right, count = right + int((guesses == truth).sum()), count + len(truth)
        return 100.0 * right / count
