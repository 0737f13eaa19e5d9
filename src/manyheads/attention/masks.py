"""Masks: which keys each query may attend to.

A `Mask` is a value that knows its facts, not a matrix. The facts are which keys exist (padding) and whether a query
may look ahead (causality); a mechanism uses whichever it needs. The dense form of the paper,

    M[i, j] = 0 where query i may see key j, −∞ elsewhere,

is added to the scaled scores. It is rendered once per mask and shared by all layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    """Which of S keys each of T queries may see.

    `valid` [B, S] is true where a key is a real token and not padding; None means that all of them are.
    `causal` forbids every key that stands after its query. The last query is aligned with the last key, so that a
    single query against S cached keys sees all of them.
    """

    valid: Tensor | None = None
    causal: bool = False
    _rendered: dict[tuple[int, int, torch.dtype], Tensor] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def padding(cls, lengths: Tensor, size: int, *, causal: bool = False) -> Mask:
        """Return the mask of a batch whose rows have the given lengths [B], padded on the right to `size` keys."""
        positions = torch.arange(size, device=lengths.device)
        return cls(valid=positions < lengths[:, None], causal=causal)

    def select(self, rows: Tensor) -> Mask:
        """Return the mask of the given rows of the batch [N], in that order."""
        return self if self.valid is None else Mask(self.valid.index_select(0, rows), self.causal)

    def dense(self, queries: int, keys: int) -> Tensor | None:
        """Return who may be seen as booleans that broadcast to [B, H, T, S]; None where everything may."""
        seen = None if self.valid is None else self.valid[:, None, None, :]
        if not self.causal or queries == 1:
            return seen
        device = None if self.valid is None else self.valid.device
        # Query i stands at position i + (S - T); it sees the keys up to its own position.
        past = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
        return past if seen is None else seen & past

    def additive(self, scores_like: Tensor, keys: int) -> Tensor | None:
        """Return the paper's M, 0 or −∞, that broadcasts to [B, H, T, S]; None where everything may be seen.

        `scores_like` [B, H, T, …] gives the number of queries, the type and the device.
        """
        queries, dtype = scores_like.shape[-2], scores_like.dtype
        key = (queries, keys, dtype)
        if key not in self._rendered:
            seen = self.dense(queries, keys)
            if seen is None:
                return None
            forbidden = torch.zeros(seen.shape, dtype=dtype, device=scores_like.device)
            self._rendered[key] = forbidden.masked_fill_(~seen.to(scores_like.device), float("-inf"))
        return self._rendered[key]


EVERYTHING = Mask()
"""Every query sees every key."""
