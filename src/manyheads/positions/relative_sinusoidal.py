"""Relative sinusoidal positions (Transformer-XL, Dai et al. 2019, section 3.3): four terms make up each score.

    e_ij = [ q_iᵀ·k_j  +  q_iᵀ·W_R·r_(i−j)  +  uᵀ·k_j  +  vᵀ·W_R·r_(i−j) ] / √d_k

r is the sinusoid of the paper's section 3.5, here of a distance instead of a position. W_R turns it into what queries
are compared with, and the trained biases u and v of each head take the place of a query that has a position: what is
read, and from how far away, matters whatever the position of the reader. Since only distances enter, states that were
computed for earlier text can be read again: no position was ever added to them.

The first term is attention's own. The last three are added to it here. The products with W_R·r are computed once for
each distance. Row i of a matrix [T, S] needs them from another distance on than row i − 1, which `relative_shift` does
without copying single numbers (appendix B of the paper).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from manyheads.positions.interface import AttentionPositions
from manyheads.positions.sinusoidal import sinusoids


class RelativeSinusoids(AttentionPositions):
    """Sinusoids of distances, compared with queries, and two biases for each head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.width, self.heads = width, heads
        self.projection = nn.Linear(width, width, bias=False)  # W_R of all heads
        nn.init.xavier_uniform_(self.projection.weight)
        self.content_bias = nn.Parameter(torch.zeros(heads, width // heads))  # u
        self.position_bias = nn.Parameter(torch.zeros(heads, width // heads))  # v

    def scores(self, queries: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
        """Return the last three terms [B, H, …, T, S] for queries [B, H, …, T, Dh] and keys [B, H, …, S, Dh].

        Distances […, T, S] are those of the keys from the queries, j − i.
        """
        between = (1,) * (queries.dim() - 4)  # dimensions for blocks, of mechanisms that compute some of the scores
        content, position = (bias.view(self.heads, *between, 1, -1) for bias in (self.content_bias, self.position_bias))
        of_keys = (content * keys).sum(-1)[..., None, :]  # [B, H, …, 1, S]
        first, last = _range(distances)
        vectors = self._vectors(torch.arange(first, last + 1, device=queries.device), between)
        each = (queries + position) @ vectors  # [B, H, …, T, N]: for every distance from the first to the last
        if distances.dim() == 2 and len(distances) > 1:  # neighbouring keys, as everywhere but in blocks and steps
            by_distance = relative_shift(each, keys.shape[-2])
        else:
            by_distance = each.gather(-1, (distances - first).expand(*each.shape[:-1], -1))
        return (of_keys + by_distance) / math.sqrt(queries.shape[-1])

    def _vectors(self, distances: Tensor, between: tuple[int, ...]) -> Tensor:
        """Return W_R·r [H, …, Dh, N] for N distances j − i; the paper counts them as i − j."""
        encodings = self.projection(sinusoids(-distances, self.width).to(self.content_bias.dtype))
        by_head = encodings.view(len(distances), self.heads, -1).permute(1, 2, 0)
        return by_head.reshape(self.heads, *between, *by_head.shape[1:])


def _range(distances: Tensor) -> tuple[int, int]:
    """Return the first and the last of distances […, T, S].

    On the device meta, where costs are counted, tensors have no values: there, the last query is at the last key.
    """
    if distances.is_meta:
        return 1 - distances.shape[-1], distances.shape[-2] - 1
    return int(distances.min()), int(distances.max())


def relative_shift(each: Tensor, keys: int) -> Tensor:
    """Return [..., T, S] whose row i is row i of [..., T, T + S − 1] from column T − 1 − i on.

    The columns are distances in rising order, and the last one belongs to the last key and the first query. Laid out as
    one line, each row begins T + S − 2 numbers after the one before instead of T + S − 1.
    """
    queries, columns = each.shape[-2:]
    if queries == 1:
        return each
    line = each.flatten(-2)[..., queries - 1 : queries - 1 + queries * (columns - 1)]
    return line.unflatten(-1, (queries, columns - 1))[..., :keys]
