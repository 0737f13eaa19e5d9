"""How well a BERT does on examples it never learned from, by what its user would see: labels, answers, guesses."""

from __future__ import annotations

import torch

from manyheads.config.bert import METRICS, BertRecipe
from manyheads.data.bert_batches import BertBatches, Task
from manyheads.encoding.bert import Bert
from manyheads.metrics.answers import answer_f1, exact_answers
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
        """Return what the model says of every example; a language model says nothing of them."""
        longest = self._recipe.data.max_length
        examples = self._task.examples
        if self._recipe.task == "classification":
            return [one.name for one in self._bert.classify([one.given for one in examples], longest=longest)]
        if self._recipe.task == "question_answering":
            asked = [(one.text, one.second or "") for one in examples]
            return [one.text for one in self._bert.answer(asked, longest=longest)]
        return []

    def _scores(self, outputs: list[str]) -> dict[str, Score]:
        """Return the task's scores by name, in percent."""
        answers = [one.answer for one in self._task.examples]
        if self._recipe.task == "question_answering":
            values = {"exact_match": exact_answers(outputs, answers), "f1": answer_f1(outputs, answers)}
        elif self._recipe.task == "classification":
            right = sum(one == other for one, other in zip(outputs, answers, strict=True))
            values = {"accuracy": 100.0 * right / len(answers)}
        else:
            values = {"accuracy": self._share_guessed()}
        return {name: Score(name, value) for name, value in values.items()}

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
