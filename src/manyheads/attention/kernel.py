"""Attention with a kernel in place of the softmax, O(n): if the similarity is φ(q)·φ(k), sums can be reordered.

    out_i = Σ_j φ(q_i)·φ(k_j) v_j / Σ_j φ(q_i)·φ(k_j)  =  φ(q_i)·[Σ_j φ(k_j) v_jᵀ] / φ(q_i)·[Σ_j φ(k_j)]

The brackets do not depend on i. With a 1 appended to each value, one product computes both. With a causal mask they
become running sums: the sequence is split into chunks; a query uses the sums of all chunks before its own and is
compared with each key of its own chunk. Decoding keeps only the sums, whose size does not depend on the length.

Features may be scaled by a factor exp(−s) that all keys share. It cancels, and it keeps large exponents finite.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism
from manyheads.errors import ManyheadsError
from manyheads.positions.interface import AttentionPositions

CHUNK = 64  # positions per running sum; larger chunks mean larger products and more masked scores


class Features(NamedTuple):
    """φ(x)·exp(−s): scaled features [B, H, S, F] and the s [B, H, 1, 1]; None stands for 0."""

    values: Tensor
    scale: Tensor | None = None


class KernelAttention(Mechanism):
    """Attention with the similarity φ(q)·φ(k)."""

    def query_features(self, queries: Tensor) -> Tensor:
        """Return φ(q) [B, H, T, F], up to a factor for each query."""
        raise NotImplementedError

    def key_features(self, keys: Tensor) -> Features:
        """Return φ(k) [B, H, S, F], up to a factor that all keys share."""
        raise NotImplementedError

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] over keys and values [B, H, S, Dh]."""
        assert positions is None, "the configuration refuses this before a model is built"
        query_features = self.query_features(queries)
        key_features = _masked(self.key_features(keys).values, mask)
        if mask.causal and queries.shape[-2] > 1:
            assert queries.shape[-2] == keys.shape[-2]
            return _causal(query_features, key_features, values)
        return normalised(query_features @ (key_features.transpose(-2, -1) @ append_one(values)))

    def weights(self, queries: Tensor, keys: Tensor, mask: Mask, positions: AttentionPositions | None = None) -> Tensor:
        """Return the weights that are implicit in the sums [B, H, T, S]."""
        similarities = self.query_features(queries) @ _masked(self.key_features(keys).values, mask).transpose(-2, -1)
        if mask.causal:
            similarities = similarities.tril(keys.shape[-2] - queries.shape[-2])
        return _divide(similarities, similarities.sum(dim=-1, keepdim=True))

    def new_cache(self) -> Cache:
        """Return sums over no positions."""
        return Sums()

    def step(
        self, queries: Tensor, new: KeysValues, cache: Cache, mask: Mask, positions: AttentionPositions | None = None
    ) -> Tensor:
        """Return the output [B, H, 1, Dh] of one query over the past and the new key and value [B, H, 1, Dh]."""
        if not isinstance(cache, Sums) or cache.holds_keys:
            return super().step(queries, new, cache, mask, positions)
        cache.add(self.key_features(new.keys), new.values)
        return normalised(self.query_features(queries) @ cache.products)


class Sums(Cache):
    """Σ φ(k)·[v; 1]ᵀ over the past [B, H, F, Dh + 1]; its size does not depend on the length.

    Weights cannot be computed from sums. If they are recorded from the first step on, keys and values are kept instead,
    as in any other cache.
    """

    products: Tensor

    def __init__(self) -> None:
        super().__init__()
        self._scale: Tensor | None = None

    @property
    def holds_keys(self) -> bool:
        """Whether keys and values are kept instead of their sums."""
        return self._buffer is not None

    def append(self, new: KeysValues) -> KeysValues:
        """Append keys and values and return all of them; an error if earlier ones were kept as sums only."""
        if self.length and not self.holds_keys:
            raise ManyheadsError(
                "the weights of this attention cannot be recorded: earlier steps kept only sums of keys and values.",
                cure="Record from the first step of decoding on.",
            )
        return super().append(new)

    def add(self, features: Features, values: Tensor) -> None:
        """Add the features [B, H, T, F] and values [B, H, T, Dh] of new keys."""
        products = features.values.transpose(-2, -1) @ append_one(values)
        if self.length == 0:
            self.products, self._scale = products, features.scale
        elif features.scale is None or self._scale is None:
            self.products = self.products + products
        else:
            largest = torch.maximum(self._scale, features.scale)
            self.products = (self._scale - largest).exp() * self.products + (features.scale - largest).exp() * products
            self._scale = largest
        self.length += values.shape[-2]

    def select(self, rows: Tensor) -> Self:
        """Return the sums of the given rows of the batch [N], in that order."""
        chosen = super().select(rows)
        if self.length and not self.holds_keys:
            chosen.products = self.products.index_select(0, rows)
            chosen._scale = None if self._scale is None else self._scale.index_select(0, rows)
        return chosen


def _masked(features: Tensor, mask: Mask) -> Tensor:
    """Set the features [B, H, S, F] of padded keys to zero."""
    return features if mask.valid is None else features * mask.valid[:, None, :, None]


def append_one(values: Tensor) -> Tensor:
    """Append a 1 to each value [B, H, S, Dh]: [B, H, S, Dh + 1]."""
    return torch.nn.functional.pad(values, (0, 1), value=1.0)


def normalised(sums: Tensor) -> Tensor:
    """Divide weighted sums of values [B, H, T, Dh + 1] by their last element, which is the sum of the weights."""
    return _divide(sums[..., :-1], sums[..., -1:])


def _divide(dividend: Tensor, divisor: Tensor) -> Tensor:
    """Return dividend / divisor, and zero where both are zero because all keys are masked."""
    return dividend / divisor.masked_fill(divisor <= 0.0, 1.0)


def _causal(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Return the outputs [B, H, n, Dh] of causal attention, computed by running sums over chunks."""
    length = queries.shape[-2]
    count = -(-length // CHUNK)

    def chunks(tensor: Tensor) -> Tensor:
        """Split [B, H, n, …] into chunks [B, H, N, c, …]."""
        filled = torch.nn.functional.pad(tensor, (0, 0, 0, count * CHUNK - length))
        return filled.view(*tensor.shape[:2], count, CHUNK, tensor.shape[-1])

    query_chunks, key_chunks = chunks(queries), chunks(keys)  # [B, H, N, c, F]
    value_chunks = chunks(append_one(values))  # [B, H, N, c, Dh + 1]
    products = key_chunks.transpose(-2, -1) @ value_chunks  # [B, H, N, F, Dh + 1]
    before = products.cumsum(dim=2) - products
    near = (query_chunks @ key_chunks.transpose(-2, -1)).tril()  # [B, H, N, c, c]
    return normalised(query_chunks @ before + near @ value_chunks).flatten(2, 3)[:, :, :length]
