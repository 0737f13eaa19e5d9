"""Masked language modelling, what BERT is pretrained with: hidden words are predicted from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from manyheads.config.tasks.masked_words import MaskedWordsRecipe, MaskingSettings
from manyheads.data.batches.examples import (
    NOTHING,
    ExampleBatch,
    ExampleBatches,
    LabelledRows,
    Layout,
    masked_layout,
    unlabelled,
)
from manyheads.data.text.examples import read_examples
from manyheads.data.text.records import Example
from manyheads.encoding.encoder import Encoder
from manyheads.metrics.scores import Score
from manyheads.models.interface import EncoderInputs
from manyheads.runs.folder import RunFolder
from manyheads.tasks.interface import EvaluationOptions, Measurement, TestData
from manyheads.tasks.loss import fused_loss
from manyheads.tasks.reading import ExampleTensors, ReadingObjective, ReadingTask, examples_for_test

TEST_SEED = 0  # of the tokens that are hidden in test texts


class MaskedWordsObjective(ReadingObjective):
    """Predict the tokens that were hidden, from both sides."""

    def count(self, batch: ExampleBatch) -> int:
        """Return the number of tokens to predict."""
        return int((batch.targets != NOTHING).sum())

    def move(self, batch: ExampleBatch, device: torch.device) -> ExampleTensors:
        """Copy a batch of arrays to a device, with the places of the hidden tokens."""
        places = torch.from_numpy(np.flatnonzero(batch.targets != NOTHING))
        return super().move(batch, device)._replace(places=places.to(device))

    def forward(self, batch: ExampleTensors) -> tuple[Tensor, int]:
        """Return the summed loss over the hidden tokens, and their number."""
        hidden, targets = self._hidden(batch)
        model = self.model
        loss = fused_loss(hidden, model.token_vectors, model.token_bias, targets, smoothing=self.smoothing)
        return loss, len(targets)

    def predictions(self, batch: ExampleTensors) -> tuple[Tensor, Tensor]:
        """Return the most probable tokens at the hidden places [N], and the original ones [N]."""
        hidden, targets = self._hidden(batch)
        logits = torch.nn.functional.linear(hidden, self.model.token_vectors, self.model.token_bias)
        return logits.argmax(dim=-1), targets

    def _hidden(self, batch: ExampleTensors) -> tuple[Tensor, Tensor]:
        """Return the inputs of the output layer [N, D] and the tokens [N] at the hidden places."""
        assert batch.places is not None
        states = self.states(batch.inputs).flatten(0, 1).index_select(0, batch.places)
        return self.model.token_states(states), batch.targets.flatten().index_select(0, batch.places)

    def multiplications(self, batch: ExampleBatch) -> int:
        """Return those of the encoder and of the word head."""
        stacks = super().multiplications(batch)
        vocabulary, width = self.model.token_vectors.shape
        return stacks + self.count(batch) * width * (vocabulary + width) if stacks else 0


class MaskedWordsTask(ReadingTask[MaskedWordsRecipe]):
    """A prepared run of a masked language model."""

    name: ClassVar[str] = "masked_language_model"
    objective_class = MaskedWordsObjective
    has_word_head = True

    def rows_of(self, examples: list[Example], *, where: str) -> LabelledRows:
        """Return texts as rows."""
        return unlabelled(examples, self.tokenizer, longest=self.recipe.data.max_length)

    def layout_of(self, rows: LabelledRows) -> Layout:
        """Return a layout that hides other tokens in every batch."""
        return masked_layout(rows, self.tokenizer, self.recipe.masking, seed=self.recipe.seed)

    @classmethod
    def planned(cls, inputs: EncoderInputs) -> ExampleTensors:
        """Return a batch on the device `meta`, with the default share of hidden tokens."""
        hidden = max(1, round(MaskingSettings().share * inputs.input_ids.numel()))
        return ExampleTensors(inputs, inputs.input_ids, torch.arange(hidden, device="meta"))

    def validation_scores(self, objective: ReadingObjective, outputs: Sequence[str]) -> list[Score]:
        """Return the share of the hidden tokens that are predicted."""
        assert isinstance(objective, MaskedWordsObjective)
        return [accuracy(objective, self.valid_batches)]

    @classmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Return the share of the hidden tokens of test texts that are predicted; there are no outputs."""
        options.refuse_search(run, data)
        recipe = run.recipe_for(MaskedWordsRecipe)
        examples = read_examples(examples_for_test(recipe, data), recipe.task, split="test")
        encoder = Encoder.from_folder(run.path, device=options.device)
        rows = unlabelled(examples, encoder.tokenizer, longest=recipe.data.max_length)
        layout = masked_layout(rows, encoder.tokenizer, recipe.masking, seed=TEST_SEED)
        batches = ExampleBatches(rows, layout, tokens=recipe.training.batch_tokens, seed=TEST_SEED)
        objective = MaskedWordsObjective(encoder.model, smoothing=0.0).eval()
        return Measurement([], [accuracy(objective, batches)], len(examples))


@torch.inference_mode()
def accuracy(objective: MaskedWordsObjective, batches: ExampleBatches) -> Score:
    """Return the share of the hidden tokens of an epoch that are predicted, in percent."""
    right = count = 0
    for index in range(batches.per_epoch):
        tensors = objective.move(batches[index], objective.model.device)
        predicted, truth = objective.predictions(tensors)
        right, count = right + int((predicted == truth).sum()), count + len(truth)
    return Score("accuracy", 100.0 * right / count)
