"""What is learned: a batch becomes a summed loss and the number of terms in it.

Everything that touches a parameter happens inside `forward`, the output layer included, because data-parallel and
sharded wrappers act only there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from manyheads.data.batches.pairs import Batch
from manyheads.models.interface import SequenceToSequence, Tokens
from manyheads.tasks.loss import fused_loss
from manyheads.tasks.r_drop import r_drop_loss


class TensorBatch(NamedTuple):
    """A batch on its device: source and target ids, padded on the right, and how many of each row are real."""

    source: Tokens
    target_in: Tensor
    target_out: Tensor
    real: Tensor  # [N] where target_out, flattened, is not padding

    @classmethod
    def move(cls, batch: Batch, device: torch.device) -> Self:
        """Copy a batch of arrays to a device."""
        positions = torch.arange(batch.target_out.shape[1])
        real = (positions < torch.from_numpy(batch.target_lengths)[:, None]).flatten().nonzero()[:, 0]
        source = Tokens(_tensor(batch.source, device), _tensor(batch.source_lengths, device))
        return cls(source, _tensor(batch.target_in, device), _tensor(batch.target_out, device), real.to(device))

    def twice(self) -> Self:
        """Return a batch with every row twice, the second time behind all others; `real` is as before."""
        source = Tokens(self.source.ids.repeat(2, 1), self.source.lengths.repeat(2))
        return self._replace(source=source, target_in=self.target_in.repeat(2, 1))


def _tensor(array: object, device: torch.device) -> Tensor:
    """Return an array as a tensor on a device."""
    return torch.as_tensor(array).to(device, non_blocking=True)


class Objective(nn.Module, ABC):
    """What is learned from a batch, of whatever kind its task has."""

    model: nn.Module

    @abstractmethod
    def move(self, batch: Any, device: torch.device) -> Any:  # noqa: ANN401 (each task has batches of its own)
        """Copy a batch of arrays to a device, as `forward` wants it."""

    @abstractmethod
    def count(self, batch: Any) -> int:  # noqa: ANN401
        """Return how many terms the loss of a batch of arrays will have."""

    @abstractmethod
    def compile_stacks(self) -> None:
        """Compile what is computed for every token."""


class TranslationObjective(Objective):
    """Teacher forcing: every target position at once predicts its token from the source and the true past.

    With `r_drop` above 0 a batch is seen twice while training, and its loss is that of `tasks/r_drop.py`.
    """

    model: SequenceToSequence

    def __init__(self, model: SequenceToSequence, *, smoothing: float, r_drop: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.r_drop = r_drop

    def move(self, batch: Batch, device: torch.device) -> TensorBatch:
        """Copy a batch of arrays to a device."""
        return TensorBatch.move(batch, device)

    def count(self, batch: Batch) -> int:
        """Return the number of target tokens, the end token included."""
        return int(batch.target_lengths.sum())

    def forward(self, batch: TensorBatch) -> tuple[Tensor, int]:
        """Return the summed smoothed loss over the real target tokens, and their number; padding carries none."""
        targets = batch.target_out.flatten().index_select(0, batch.real)
        loss = self._paired_loss(batch, targets) if self.training and self.r_drop else self._plain_loss(batch, targets)
        return loss, len(targets)

    def _plain_loss(self, batch: TensorBatch, targets: Tensor) -> Tensor:
        """Return the loss of seeing the batch once."""
        hidden = self.hidden(batch).index_select(0, batch.real)
        vectors, bias = self.model.output_vectors, self.model.output_bias
        return fused_loss(hidden, vectors, bias, targets, smoothing=self.smoothing)

    def _paired_loss(self, batch: TensorBatch, targets: Tensor) -> Tensor:
        """Return the loss of seeing the batch twice at once: each element has a dropout of its own, so each row has."""
        passes = self.hidden(batch.twice()).chunk(2)
        hidden = torch.stack([one.index_select(0, batch.real) for one in passes], dim=1)
        vectors, bias = self.model.output_vectors, self.model.output_bias
        return r_drop_loss(hidden, vectors, bias, targets, smoothing=self.smoothing, alpha=self.r_drop)

    def compile_stacks(self) -> None:
        """Compile encoder and decoder, for any shape; not the loss, whose chunks differ from batch to batch."""
        self.hidden = torch.compile(self.hidden, dynamic=True)  # type: ignore[method-assign]

    def hidden(self, batch: TensorBatch) -> Tensor:
        """Return the hidden states [B·T, D] of every target position, padding included."""
        return self.model.decode(batch.target_in, self.model.encode(batch.source)).flatten(0, 1)
