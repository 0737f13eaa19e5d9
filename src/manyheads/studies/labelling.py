"""A small task for models that recipes do not offer, such as a Transformer without residual connections.

Every position of a sequence of symbols gets a label. A model embeds the symbols, a body turns states [B, T, D] into
states, and a linear layer predicts the labels. An item of a study trains one from its seed, and begins again if it was
stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.positions.sinusoidal import SinusoidalPositions

NO_LABEL = -1
WARMUP = 0.1  # of the steps, after which the rate falls in a straight line
CLIP_NORM = 1.0


@dataclass(frozen=True)
class Batch:
    """Sequences of symbols [B, T], which of them are real [B, T], and their labels [B, T]; some have none."""

    symbols: Tensor
    real: Tensor
    labels: Tensor


class Labeller(nn.Module):
    """An embedding with or without positions, a body, and a prediction of labels."""

    def __init__(self, body: nn.Module, *, symbols: int, width: int, positions: bool) -> None:
        super().__init__()
        added = SinusoidalPositions(width) if positions else None
        self.embedding = Embedding(token_vectors(symbols, width), added, dropout=0.0)
        self.body = body
        self.output = nn.Linear(width, symbols)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits [B, T, V]."""
        logits: Tensor = self.output(self.body(self.embedding(batch.symbols), batch.real))
        return logits


def learn(model: Labeller, draw: Callable[[torch.Generator], Batch], *, steps: int, rate: float, seed: int) -> None:
    """Train a model with Adam on batches drawn at random, with clipped gradients."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    model.train()
    for step in range(steps):
        done = (step + 1) / steps
        optimiser.param_groups[0]["lr"] = rate * min(done / WARMUP, (1.0 - done) / (1.0 - WARMUP))
        batch = draw(generator)
        loss = F.cross_entropy(model(batch).flatten(0, 1), batch.labels.flatten(), ignore_index=NO_LABEL)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
        optimiser.step()


@torch.no_grad()
def accuracy(model: Labeller, draw: Callable[[torch.Generator], Batch], *, batches: int, seed: int) -> float:
    """Return the percentage of labels that a model predicts, on batches drawn with another seed than in training."""
    generator = torch.Generator().manual_seed(seed)
    model.eval()
    right = total = 0
    for _ in range(batches):
        batch = draw(generator)
        counted = batch.labels != NO_LABEL
        right += int((model(batch).argmax(dim=-1) == batch.labels)[counted].sum())
        total += int(counted.sum())
    return 100.0 * right / total
