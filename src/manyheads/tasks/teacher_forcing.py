"""Teacher forcing: every target position predicts its token at once, from the source and the true past."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from manyheads.data.batches.pairs import PairBatch
from manyheads.models.interface import AnySequenceToSequence, Tokens
from manyheads.tasks.interface import Objective
from manyheads.tasks.loss import fused_loss
from manyheads.tasks.r_drop import r_drop_loss


class PairTensors(NamedTuple):
    """A batch on its device: source and target ids, padded on the right, and how many of each row are real."""

    source: Tokens
    target_in: Tensor
    target_out: Tensor
    real: Tensor  # [N] where target_out, flattened, is not padding

    @classmethod
    def move(cls, batch: PairBatch, device: torch.device) -> Self:
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


class TranslationObjective(Objective[PairBatch]):
    """The smoothed cross-entropy of every target token, given the source and the true past.

    With `r_drop` above 0 a batch is seen twice while training, and its loss is that of `tasks/r_drop.py`.
    """

    model: AnySequenceToSequence

    def __init__(self, model: AnySequenceToSequence, *, smoothing: float, r_drop: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.r_drop = r_drop

    def move(self, batch: PairBatch, device: torch.device) -> PairTensors:
        """Copy a batch of arrays to a device."""
        return PairTensors.move(batch, device)

    def count(self, batch: PairBatch) -> int:
        """Return the number of target tokens, the end token included."""
        return int(batch.target_lengths.sum())

    def forward(self, batch: PairTensors) -> tuple[Tensor, int]:
        """Return the summed smoothed loss over the real target tokens, and their number; padding carries none."""
        targets = batch.target_out.flatten().index_select(0, batch.real)
        loss = self._paired_loss(batch, targets) if self.training and self.r_drop else self._plain_loss(batch, targets)
        return loss, len(targets)

    def _plain_loss(self, batch: PairTensors, targets: Tensor) -> Tensor:
        """Return the loss of seeing the batch once."""
        states, penalty = self.hidden(batch)
        hidden = states.index_select(0, batch.real)
        vectors, bias = self.model.output_vectors, self.model.output_bias
        loss = fused_loss(hidden, vectors, bias, targets, smoothing=self.smoothing)
        return _with_penalty(loss, penalty, batch.real)

    def _paired_loss(self, batch: PairTensors, targets: Tensor) -> Tensor:
        """Return the loss of seeing the batch twice at once: each element has a dropout of its own, so each row has."""
        states, penalty = self.hidden(batch.twice())
        hidden = torch.stack([one.index_select(0, batch.real) for one in states.chunk(2)], dim=1)
        vectors, bias = self.model.output_vectors, self.model.output_bias
        loss = r_drop_loss(hidden, vectors, bias, targets, smoothing=self.smoothing, alpha=self.r_drop)
        return _with_penalty(loss, penalty, batch.real, views=2)

    def multiplications(self, batch: PairBatch) -> int:
        """Return those of padded rectangles in the model, and of the real target tokens in the output layer."""
        rows, source = batch.source.shape
        stacks = self.model.multiplications(rows, source, batch.target_in.shape[1])
        views = 2 if self.r_drop else 1
        return views * (stacks + int(batch.target_lengths.sum()) * self.model.output_vectors.numel()) if stacks else 0

    def compile_stacks(self) -> None:
        """Compile encoder and decoder, for any shape; not the loss, whose chunks differ from batch to batch."""
        self.hidden = torch.compile(self.hidden, dynamic=True)  # type: ignore[method-assign]

    def hidden(self, batch: PairTensors) -> tuple[Tensor, Tensor | None]:
        """Return the hidden states [B·T, D] and penalties [B·T] of every target position, padding included."""
        decoded = self.model.decode(batch.target_in, self.model.encode(batch.source))
        return decoded.hidden.flatten(0, 1), None if decoded.penalty is None else decoded.penalty.flatten()


def _with_penalty(loss: Tensor, penalty: Tensor | None, real: Tensor, views: int = 1) -> Tensor:
    """Return a summed loss with the penalties [views·B·T] of the real target positions [N], averaged over the views."""
    if penalty is None:
        return loss
    return loss + sum(one.index_select(0, real).sum() for one in penalty.chunk(views)) / views
