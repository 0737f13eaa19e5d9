"""Query–key normalisation (Henry et al. 2020; per head with RMSNorm as in Dehghani et al. 2023):

    scores = RMSNorm(Q)·RMSNorm(K)ᵀ/√d_k

The scores stay bounded by the learned scales however large the projections grow, so attention cannot saturate early in
training. Queries and keys are normalised over the width of a head, before positions act on them.
"""

from __future__ import annotations

from torch import Tensor, nn

EPSILON = 1e-5


class QueryKeyNorm(nn.Module):
    """A norm for queries and one for keys, each shared by all heads."""

    def __init__(self, head_width: int) -> None:
        super().__init__()
        self.queries = nn.RMSNorm(head_width, eps=EPSILON)
        self.keys = nn.RMSNorm(head_width, eps=EPSILON)

    def forward(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries [B, H, T, Dh] and keys [B, H, S, Dh], each normalised over Dh."""
        return self.queries(queries), self.keys(keys)
