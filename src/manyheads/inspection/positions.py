"""The positional encodings for a figure: the table itself, and the similarity of any two positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from manyheads.errors import ManyheadsError
from manyheads.inspection.views import Array, rounded
from manyheads.positions.sinusoidal import sinusoids
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import read_weights

LEARNED = "positions.table"  # the end of the name of learned positions among the weights
MOST = 4096  # positions or dimensions: a larger figure would show nothing, and would be a load on a server


@dataclass(frozen=True)
class PositionTable:
    """Positional encodings [length, width], and their dot products with each other [length, length]."""

    encodings: Array
    dot_products: Array

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {"encodings": rounded(self.encodings), "dot_products": rounded(self.dot_products)}


def position_table(length: int = 50, width: int = 128) -> PositionTable:
    """Return the sinusoidal encodings of the first `length` positions of a model of size `width`."""
    for name, number in (("length", length), ("width", width)):
        if not 1 <= number <= MOST:
            raise ManyheadsError(f"must be between 1 and {MOST:,}, and is {number}.", where=name)
    return _table(sinusoids(torch.arange(length), width).numpy())


def run_position_table(run: RunFolder, *, length: int = 50) -> PositionTable:
    """Return the encodings that a run's encoder adds to its embeddings: the paper's, or those that it learned."""
    weights = read_weights(run.weights_file)
    learned = next((weights[name] for name in sorted(weights) if name.endswith(LEARNED)), None)
    if learned is not None:
        return _table(learned[:length].astype(np.float32))
    model = run.config().model
    positions = getattr(model, "positions", None)
    if not getattr(positions, "absolute", False):
        kind = getattr(positions, "kind", model.kind)
        raise ManyheadsError(
            f"{kind} positions are not added to the embeddings, so there is no table of them.", where=str(run.path)
        )
    return position_table(length, model.width)


def _table(encodings: Array) -> PositionTable:
    """Return encodings with their dot products."""
    return PositionTable(encodings, encodings @ encodings.T)
