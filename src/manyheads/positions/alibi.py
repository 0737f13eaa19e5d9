"""ALiBi (Press et al. 2022): a penalty on scores that grows linearly with the distance, with a slope for each head.

    e_ij = q_i · k_j / √d_k − m_h · |i − j|        m_h = 2^(−8h/H),  h = 1 … H

Nothing is learned, and sequences may be longer than those seen in training. If H is not a power of two, the slopes are
those of the next lower power, followed by every second slope of the next higher one. The paper describes decoders only,
which attend to earlier keys. In an encoder, a symmetric penalty could not distinguish a sentence from its reversal, so
a key after its query has the slope of the head with the opposite rank: m_(H+1−h).
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
