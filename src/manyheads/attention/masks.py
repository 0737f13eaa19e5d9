"""Masks: which keys each query may attend to.

A `Mask` is not a matrix. It states which keys are padding and whether queries may look ahead, and a mechanism uses what
it needs of this. The dense form of the paper,

    M[i, j] = 0 where query i may attend to key j, −∞ elsewhere,

is added to the scaled scores. It is computed once per mask and shared by all layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    """Which of S keys each of T queries may attend to.

    `valid` [B, S] is true where a key is a real token and false where it is padding; None means that there is no
    padding. `causal` forbids every key after its query, and `reach` with it those more than that number of positions
    before it.
    The last query is aligned with the last key, so that a single query may attend to all S cached keys.
    """

    valid: Tensor | None = None
    causal: bool = False
    reach: int | None = None
    _additive: dict[tuple[int, int, torch.dtype], AdditiveMask] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def padding(cls, lengths: Tensor, size: int, *, causal: bool = False) -> Mask:
        """Return the mask of a batch whose rows have the given lengths [B], padded on the right to `size` keys."""
        positions = torch.arange(size, device=lengths.device)
        return cls(valid=positions < lengths[:, None], causal=causal)

    def select(self, rows: Tensor) -> Mask:
        """Return the mask of the given rows of the batch [N], in that order."""
        return self if self.valid is None else Mask(self.valid.index_select(0, rows), self.causal, self.reach)

    def dense(self, queries: int, keys: int) -> Tensor | None:
        """Return which keys are visible as booleans that broadcast to [B, H, T, S]; None where all are."""
        visible = None if self.valid is None else self.valid[:, None, None, :]
        is_near = self.reach is None or keys <= self.reach + 1
        if not self.causal or (queries == 1 and is_near):
            return visible
        device = None if self.valid is None else self.valid.device
        # Query i is at position i + (S - T); the keys up to its own position are visible.
        past = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
        if self.reach is not None and not is_near:
            past = past.triu(keys - queries - self.reach)
        return past if visible is None else visible & past

    def additive(self, scores_like: Tensor, keys: int) -> AdditiveMask | None:
        """Return the paper's M; None where all keys are visible.

        `scores_like` [B, H, T, …] gives the number of queries, the type and the device.
        """
        queries, dtype = scores_like.shape[-2], scores_like.dtype
        key = (queries, keys, dtype)
        if key not in self._additive:
            visible = self.dense(queries, keys)
            if visible is None:
                return None
            self._additive[key] = AdditiveMask.of(visible.to(scores_like.device), dtype)
        return self._additive[key]


@dataclass(frozen=True)
class AdditiveMask:
    """A mask in the form that is added to scores: `bias` is 0 or −∞ and broadcasts to [B, H, T, S].

    The softmax of a row of −∞ is NaN. A query without any visible key therefore has a row of zeros in `bias`, and
    `fully_masked` [B, H, T, 1] is true for it: its output must be set to zero. None means that there is no such query.
    """

    bias: Tensor
    fully_masked: Tensor | None

    @classmethod
    def of(cls, visible: Tensor, dtype: torch.dtype) -> AdditiveMask:
        """Return the additive form of booleans that broadcast to [B, H, T, S]."""
        fully_masked = ~visible.any(dim=-1, keepdim=True)
        bias = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
        bias.masked_fill_(~(visible | fully_masked), -torch.inf)
        # On an accelerator, testing whether there is any would force a synchronisation that costs more than it saves.
        needed = visible.device.type != "cpu" or bool(fully_masked.any())
        return cls(bias, fully_masked if needed else None)


EVERYTHING = Mask()
"""Every query may attend to every key."""
