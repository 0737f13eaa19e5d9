"""Randomised positions (Ruoss et al. 2023): training uses random positions beyond the length of the sequence.

    0 ≤ p_1 < p_2 < … < p_T < L,  sampled for every batch

Such positions carry only the order of the tokens. All L of them are trained, so that a longer sequence than any in
training has no untrained positions. Inference uses 0, 1, 2, …, since random positions would make it non-deterministic.
"""

from __future__ import annotations

import torch
from torch import Tensor

from manyheads.positions.limits import too_long


def sampled_in_order(vectors: Tensor, count: int) -> Tensor:
    """Return `count` different rows of the vectors [L, D], sampled at random and kept in order."""
    if count > len(vectors):
        raise too_long(count, len(vectors), where="model.positions.randomised")
    return vectors[torch.randperm(len(vectors), device=vectors.device)[:count].sort().values]
