"""What is learned: a batch becomes a summed loss and the number of terms in it.

Everything that touches a parameter happens inside `forward`, the output layer included, because data-parallel and
sharded wrappers act only there.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from manyheads.data.batching import Batch
from manyheads.models.interface import SequenceToSequence, Tokens
from manyheads.training.loss import fused_loss


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


def _tensor(array: object, device: torch.device) -> Tensor:
    """Return an array as a tensor on a device."""
    return torch.as_tensor(array).to(device, non_blocking=True)


class TranslationObjective(nn.Module):
    """Teacher forcing: every target position at once predicts its token from the source and the true past."""

    def __init__(self, model: SequenceToSequence, *, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, batch: TensorBatch) -> tuple[Tensor, int]:
        """Return the summed smoothed loss over the real target tokens, and their number; padding carries none."""
        hidden = self.model.decode(batch.target_in, self.model.encode(batch.source))
        hidden = hidden.flatten(0, 1).index_select(0, batch.real)
        targets = batch.target_out.flatten().index_select(0, batch.real)
        model = self.model
        loss = fused_loss(hidden, model.output_vectors, model.output_bias, targets, smoothing=self.smoothing)
        return loss, len(targets)
