"""How good the model is on data it never learned from: loss, the task's metric, and a few samples to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from manyheads.config.schema import Recipe
from manyheads.config.values import Metric
from manyheads.data.batches.pairs import Batches
from manyheads.data.text.records import Pair
from manyheads.decoding.translator import Translator
from manyheads.metrics.scores import Scale, Score, answers_of, companions, measure
from manyheads.metrics.segmentation import bleu_tokenizer, target_language
from manyheads.training.objectives import TensorBatch, TranslationObjective


@dataclass(frozen=True)
class Sample:
    """One validation sentence with what the model made of it."""

    source: str
    output: str
    reference: str


@dataclass(frozen=True)
class Findings:
    """The result of a validation: the deciding score, all others, and samples."""

    score: Score
    others: list[Score]
    samples: list[Sample]

    def numbers(self) -> dict[str, float]:
        """Return every score by name."""
        return {one.name: round(one.value, 4) for one in (self.score, *self.others)}


class Validator:
    """Measures a model on a fixed set of pairs."""

    def __init__(
        self,
        recipe: Recipe,
        pairs: Sequence[Pair],
        batches: Batches,
        objective: TranslationObjective,
        translator: Translator,
    ) -> None:
        self._settings = recipe.validation
        self._batches = batches
        self._objective = objective
        self._translator = translator
        answers = answers_of(pairs, grouped=self._settings.metric not in ("bleu", "chrf", "loss"))
        self._pairs = answers[: self._settings.sentences]
        tokenizer = bleu_tokenizer(
            self._settings.bleu_tokenizer,
            language=target_language(recipe.data),
            references=(references[0] for _, references in self._pairs),
        )
        self._scale = Scale(self._settings.lowercase, tokenizer)

    def run(self) -> Findings:
        """Validate the model as it is now."""
        self._objective.eval()
        try:
            loss = self.loss()
            if self._settings.metric == "loss" and not self._settings.samples:
                return Findings(loss, [], [])
            outputs = self._translator.translate(
                [source for source, _ in self._pairs], beam=1, batch_sentences=self._settings.batch_sentences
            )
        finally:
            self._objective.train()
        scores = [self._measure(metric, outputs) for metric in self._metrics()]
        samples = [
            Sample(source, output, references[0])
            for (source, references), output in zip(self._pairs[: self._settings.samples], outputs, strict=False)
        ]
        return Findings((scores or [loss])[0], [*scores[1:], *([loss] if scores else [])], samples)

    @torch.inference_mode()
    def loss(self) -> Score:
        """Return the mean loss per target token over the whole set, smoothed like the training's."""
        total, count = 0.0, 0
        device = self._objective.model.output_vectors.device
        for index in range(self._batches.per_epoch):
            loss, tokens = self._objective(TensorBatch.move(self._batches[index], device))
            total, count = total + float(loss), count + tokens
        return Score("loss", total / count, higher_is_better=False)

    def _metrics(self) -> list[Metric]:
        """Return the deciding metric and its companions, the loss aside."""
        return [one for one in (self._settings.metric, *companions(self._settings.metric)) if one != "loss"]

    def _measure(self, metric: Metric, outputs: list[str]) -> Score:
        """Score the outputs by one metric."""
        return measure(metric, outputs, [references for _, references in self._pairs], self._scale)
