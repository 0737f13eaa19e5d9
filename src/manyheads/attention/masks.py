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
    _rendered: dict[tuple[int, int, torch.dtype], Rendered] = field(default_factory=dict, repr=False, compare=False)

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

    def additive(self, scores_like: Tensor, keys: int) -> Rendered | None:
        """Return the paper's M; None where everything may be seen.

        `scores_like` [B, H, T, …] gives the number of queries, the type and the device.
        """
        queries, dtype = scores_like.shape[-2], scores_like.dtype
        key = (queries, keys, dtype)
        if key not in self._rendered:
            seen = self.dense(queries, keys)
            if seen is None:
                return None
            self._rendered[key] = Rendered.of(seen.to(scores_like.device), dtype)
        return self._rendered[key]


@dataclass(frozen=True)
class Rendered:
    """A mask as it is added to scores: 0 or −∞ in a form that broadcasts to [B, H, T, S].

    The softmax of a row of −∞ is not a number. So a query that may see nothing has a row of zeros here, and is listed
    in `blind` [B, H, T, 1], where its output is to be set to zero; None means that there is no such query.
    """

    forbidden: Tensor
    blind: Tensor | None

    @classmethod
    def of(cls, seen: Tensor, dtype: torch.dtype) -> Rendered:
        """Render who may be seen, as booleans."""
        blind = ~seen.any(dim=-1, keepdim=True)
        forbidden = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~(seen | blind), -torch.inf)
        # Asking whether there is any would make an accelerator wait, which costs more than the answer saves.
        needed = seen.device.type != "cpu" or bool(blind.any())
        return cls(forbidden, blind if needed else None)


EVERYTHING = Mask()
"""Every query sees every key."""
