"""The positional encodings as a picture shows them: the table itself, and how alike any two positions are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from manyheads.errors import ManyheadsError
from manyheads.inspection.views import Array, rounded
from manyheads.positions.sinusoidal import sinusoids

MOST = 4096  # positions or dimensions: a picture of more would show nothing, and a server should not be asked for it


@dataclass(frozen=True)
class PositionTable:
    """The paper's encodings [length, width], and their dot products with each other [length, length]."""

    encodings: Array
    dot_products: Array

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {"encodings": rounded(self.encodings), "dot_products": rounded(self.dot_products)}


def position_table(length: int = 50, width: int = 128) -> PositionTable:
    """Return the sinusoidal encodings of the first `length` positions of a model `width` wide."""
    for name, number in (("length", length), ("width", width)):
        if not 1 <= number <= MOST:
            raise ManyheadsError(f"must be between 1 and {MOST:,}, and is {number}.", where=name)
    encodings = sinusoids(torch.arange(length), width)
    return PositionTable(encodings.numpy(), (encodings @ encodings.T).numpy())
