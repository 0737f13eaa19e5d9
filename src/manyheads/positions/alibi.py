"""ALiBi (Press et al. 2022): what is further away counts for less, in each head by another slope.

    e_ij = q_i · k_j / √d_k − m_h · |i − j|        m_h = 2^(−8h/H),  h = 1 … H

Nothing is learned, and nothing ends at the longest sequence that was trained on. Where H is no power of two, the slopes
are those of the next lower power, and between them every second one of the next higher. The paper is about decoders,
which look back. In an encoder a penalty that is the same on both sides could not tell a sentence from its mirror image,
so there a key after its query has the slope of the head at the other end: m_(H+1−h).
"""

from __future__ import annotations

import torch
from torch import Tensor

from manyheads.positions.interface import AttentionPositions, by_head


def slopes(heads: int) -> list[float]:
    """Return the slope of each head."""
    lower = 1 << (heads.bit_length() - 1)
    even = [2 ** (-8 * h / lower) for h in range(1, lower + 1)]
    between = [2 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower + 1, 2)]
    return even + between[: heads - lower]


class LinearBias(AttentionPositions):
    """A penalty that grows with the distance."""

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes(heads)), persistent=False)

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        """Return −m·|j − i| [H, …, T, S] at distances […, T, S]."""
        distances = distances[..., None]
        slopes = torch.where(distances > 0, self.slopes.flip(0), self.slopes)
        return by_head(slopes * -distances.abs(), queries)
