"""Ours: the objective of `manyheads train`, with its optimiser."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from worker import BETAS, DROPOUT, EPSILON, SMOOTHING

from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.training import TrainingSettings
from manyheads.data.batches.pairs import PairBatch
from manyheads.models.transformer import Transformer
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective
from manyheads.training.optimisation.optimiser import make_optimiser


class Manyheads:
    """Transformer-Tiny as the recipe multi30k-tiny builds it."""

    def __init__(self, vocabulary: int) -> None:
        settings = TransformerSettings(preset="tiny", dropout=DROPOUT)
        self.model = Transformer.from_settings(settings, source_vocabulary=vocabulary, target_vocabulary=vocabulary)
        self.objective = TranslationObjective(self.model, smoothing=SMOOTHING)

    def optimiser(self) -> torch.optim.Optimizer:
        """Return the optimiser that the trainer makes."""
        return make_optimiser(self.model, TrainingSettings(betas=BETAS, epsilon=EPSILON))

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the label-smoothed loss per target token."""
        loss, count = self.objective(self._move(batch))
        return loss / count

    def negative_log_likelihood(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the summed negative log-likelihood."""
        moved = self._move(batch)
        logits = self.model.logits(self.model.decode(moved.target_in, self.model.encode(moved.source)).hidden)
        return F.cross_entropy(logits.flatten(0, 1), moved.target_out.flatten(), ignore_index=0, reduction="sum")

    def _move(self, batch: dict[str, Tensor]) -> PairTensors:
        arrays = {name: tensor.numpy() for name, tensor in batch.items()}
        return PairTensors.move(PairBatch(**arrays, pairs=arrays["source_lengths"]), torch.device("cpu"))


def build(vocabulary: int) -> Manyheads:
    """Return the contender."""
    return Manyheads(vocabulary)
