"""What a relative position can add to attention: a term in the scores, and one in the outputs.

    scores:  softmax(QKᵀ/√d_k + R)        outputs:  weights · V + Z

Both depend on where query i and key j stand to each other alone: the distance j − i, negative for what came before. A
mechanism that looks at some of the keys asks for the distances of these.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class RelativeTerm(Protocol):
    """Relative positions as attention sees them."""

    def scores(self, queries: Tensor, distances: Tensor) -> Tensor:
        """Return R, broadcasting to [B, H, …, T, S], for queries [B, H, …, T, Dh] at distances […, T, S]."""
        ...

    def outputs(self, weights: Tensor, distances: Tensor) -> Tensor | None:
        """Return Z [B, H, …, T, Dh] for weights [B, H, …, T, S] at distances […, T, S]; None where there is none."""
        ...


def by_head(numbers: Tensor, queries: Tensor) -> Tensor:
    """Return numbers […, T, S, H] of each head where scores of queries [B, H, …, T, Dh] want them.

    Distances that differ between sentences have the dimensions [B, 1, …, T, S]; their H takes the place of the 1.
    """
    if numbers.dim() == queries.dim() + 1:
        return numbers.movedim(-1, 1).squeeze(2)
    return numbers.movedim(-1, 0)


def distances_of(scores: Tensor) -> Tensor:
    """Return j − i [T, S] for scores [..., T, S], whose last query stands where the last key does."""
    queries, keys = scores.shape[-2:]
    places = torch.arange(keys, device=scores.device)
    return places - places[keys - queries :, None]
