"""Multi-head attention, section 3.2.2 of the paper:

    MultiHead(Q, K, V) = Concat(head_1, …, head_h) · W_O
    head_i = Attention(Q·W_i^Q, K·W_i^K, V·W_i^V)        with d_k = d_v = d_model / h

The projections of all heads are one matrix, and the head axis acts as a second batch axis, so that all heads are
computed at once. The projections to queries, keys and values are one matrix too, `input_projection` [3D, D]. It is
applied as a whole in self-attention, and in parts to different inputs in attention over an encoder's output.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.cache import Cache, KeysValues
from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import Mask
from manyheads.attention.mechanism import Mechanism, weighted_sum
from manyheads.attention.observer import Observable
from manyheads.attention.query_key_norm import QueryKeyNorm
from manyheads.positions.interface import AttentionPositions


class MultiHeadAttention(Observable):
    """h attention functions in parallel, each on its own projection of queries, keys and values to width d_model/h.

    Positions apply to self-attention only; attention over an encoder's output has none.
    """

    switched_off: frozenset[int] = frozenset()
    """Indices of heads whose outputs are replaced by zeros; `switch_off` sets them inside its block."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        bias: bool = True,
        mechanism: Mechanism | None = None,
        positions: AttentionPositions | None = None,
        query_key_norm: QueryKeyNorm | None = None,
    ) -> None:
        super().__init__()
        assert width % heads == 0, "the configuration refuses this before a model is built"
        self.width, self.heads = width, heads
        # Stored weights have the names of these two attributes; code uses the properties `input_projection` and
        # `input_projection_bias`.
        self.inputs = nn.Parameter(torch.empty(3 * width, width))
        self.inputs_bias = nn.Parameter(torch.zeros(3 * width)) if bias else None
        self.output = nn.Linear(width, width, bias=bias)
        self.mechanism = mechanism or DotProductAttention()
        self.positions = positions
        self.query_key_norm = query_key_norm
        self._initialise()

    def _initialise(self) -> None:
        """Initialise each of the four projections separately with Glorot-uniform weights, and biases with zero."""
        for projection in (*self.input_projection.detach().chunk(3), self.output.weight):
            nn.init.xavier_uniform_(projection)
        if self.output.bias is not None:
            nn.init.zeros_(self.output.bias)

    @property
    def input_projection(self) -> nn.Parameter:
        """W^Q, W^K and W^V of all heads as one matrix [3D, D]."""
        return self.inputs

    @property
    def input_projection_bias(self) -> nn.Parameter | None:
        """The biases of the three input projections [3D], or None."""
        return self.inputs_bias

    def forward(
        self, inputs: Tensor, mask: Mask, cache: Cache | None = None, *, past: KeysValues | None = None
    ) -> Tensor:
        """Self-attention: return [B, T, D] for inputs [B, T, D], which also attend to the positions in the cache.

        In its place, `past` may have the keys and values of the positions before the inputs.
        """
        return self._join(self._heads(inputs, mask, cache, past))

    def _heads(self, inputs: Tensor, mask: Mask, cache: Cache | None, past: KeysValues | None = None) -> Tensor:
        """Return the output of each head of self-attention [B, H, T, Dh] for inputs [B, T, D]."""
        queries, keys, values = self._project(inputs, 0, 3)
        if self.mechanism.keys_are_queries:
            keys = queries
        queries, keys = self._prepare(queries, keys, 0 if cache is None else cache.length)
        keys_values = KeysValues(keys, values)
        if past is not None:
            keys_values = past.followed_by(keys_values)
        if cache is None:
            return self._attend(queries, keys_values, mask)
        if self.observer is not None:
            return self._attend(queries, cache.append(keys_values), mask)
        return self.mechanism.step(queries, keys_values, cache, mask, self._terms)

    def _prepare(self, queries: Tensor, keys: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Return queries and keys [B, H, T, Dh] as self-attention compares them; both begin at position `start`."""
        if self.query_key_norm is not None:
            queries, keys = self.query_key_norm(queries, keys)
        return (queries, keys) if self.positions is None else self.positions.prepare(queries, keys, start)

    def new_cache(self) -> Cache:
        """Return an empty cache for decoding; one that keeps every key if weights are recorded."""
        return self.mechanism.new_cache() if self.observer is None else Cache()

    def across(self, inputs: Tensor, memory: KeysValues, mask: Mask) -> Tensor:
        """Encoder–decoder attention: return [B, T, D] for inputs [B, T, D] that attend to `memory`.

        The memory may have B/K rows. Each of them then belongs to K adjacent rows of the inputs, as in beam search.
        """
        (queries,) = self._project(inputs.reshape(len(memory.keys), -1, self.width), 0, 1)
        if self.query_key_norm is not None:
            queries = self.query_key_norm.queries(queries)
        return self._join(self._attend(queries, memory, mask)).view(inputs.shape)

    def keys_values(self, memory: Tensor) -> KeysValues:
        """Project an encoder's output [B, S, D] to the keys and values that `across` takes."""
        keys, values = self._project(memory, 1, 3)
        return KeysValues(keys if self.query_key_norm is None else self.query_key_norm.keys(keys), values)

    def _project(self, inputs: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Apply the projections [first, last) of (query, key, value) to [B, T, D]; return a [B, H, T, Dh] for each."""
        projected = self._apply_projection(inputs, first, last)
        batch, length, _ = inputs.shape
        parts = projected.view(batch, length, last - first, self.heads, self.width // self.heads)
        return parts.permute(2, 0, 3, 1, 4).unbind()

    def _apply_projection(self, inputs: Tensor, first: int, last: int) -> Tensor:
        """Apply the projections [first, last) to [B, T, D]; return [B, T, (last - first)·D]."""
        return F.linear(inputs, *self._projection_rows(first, last))

    def _projection_rows(self, first: int, last: int) -> tuple[Tensor, Tensor | None]:
        """Return the weights and the bias of the projections [first, last)."""
        rows = slice(first * self.width, last * self.width)
        bias = self.input_projection_bias
        return self.input_projection[rows], None if bias is None else bias[rows]

    def _attend(self, queries: Tensor, keys_values: KeysValues, mask: Mask) -> Tensor:
        """Return the outputs [B, H, T, Dh] of queries [B, H, T, Dh] in every head, and show weights to the observer."""
        if self.observer is None:
            return self.mechanism(queries, keys_values.keys, keys_values.values, mask, self._terms)
        weights = self.mechanism.weights(queries, keys_values.keys, mask, self._terms)
        self.observer(weights)
        return weighted_sum(weights, keys_values.values, self._terms)

    @property
    def _terms(self) -> AttentionPositions | None:
        """The positions, if they add terms to scores and outputs; None otherwise."""
        positions = self.positions
        return positions if positions is not None and positions.adds_terms else None

    def _join(self, heads: Tensor) -> Tensor:
        """Concatenate the heads [B, H, T, Dh], those switched off as zeros, and apply W_O: [B, T, D]."""
        if self.switched_off:
            heads = heads.index_fill(1, torch.tensor(sorted(self.switched_off), device=heads.device), 0.0)
        joined = heads.transpose(1, 2).reshape(heads.shape[0], heads.shape[2], self.width)
        return self.output(joined)
