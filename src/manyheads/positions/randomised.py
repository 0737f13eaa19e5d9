"""Randomised positions (Ruoss et al. 2023): in training, a sequence is told positions it does not have yet.

    0 ≤ p_1 < p_2 < … < p_T < L,  drawn anew for every batch

Order is all that such positions tell, and all L of them are trained, so that a longer sequence than any in training
meets nothing new. Once trained, the model is told 0, 1, 2, … as ever: a drawn position would make the same sentence
come out differently each time.
"""

from __future__ import annotations

import torch
from torch import Tensor

from manyheads.positions.limits import too_long


def sampled_in_order(vectors: Tensor, count: int) -> Tensor:
    """Return `count` different rows of the vectors [L, D], drawn at random and kept in order."""
    if count > len(vectors):
        raise too_long(count, len(vectors), where="model.positions.randomised")
    return vectors[torch.randperm(len(vectors), device=vectors.device)[:count].sort().values]
