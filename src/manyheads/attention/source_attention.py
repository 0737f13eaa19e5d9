"""Attention of a recurrent decoder over the states of its encoder (Bahdanau et al. 2015, Luong et al. 2015).

    α_tj = softmax_j(score(s_t, h_j))        c_t = Σ_j α_tj·h_j

    additive   score(s, h) = v_aᵀ·tanh(W_a·s + U_a·h)        Bahdanau et al., who call it an alignment model
    dot        score(s, h) = sᵀ·h                            Luong et al., equation (8)
    general    score(s, h) = sᵀ·W_a·h                        Luong et al., equation (8)

The query is s_t, the decoder's state at the position itself, as in Luong et al. In Bahdanau et al. it is s_(t−1), and
position t must wait for its context; here those of all positions are computed at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from manyheads.attention.observer import Observable


class SourceAttention(Observable, ABC):
    """Attention with one head, whose scores are those of a subclass."""

    def keys(self, states: Tensor) -> Tensor:
        """Return what queries are compared with [B, S, D], for states [B, S, D]; it is computed once for a source."""
        return states

    @abstractmethod
    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return score(s_t, h_j) [B, T, S] of queries [B, T, D] and keys [B, S, D]."""

    def forward(self, queries: Tensor, keys: Tensor, states: Tensor, valid: Tensor) -> Tensor:
        """Return the contexts [N·K, T, D] of queries [N·K, T, D] over states [N, S, D], where `valid` [N, S] is true.

        The K rows of queries for one source stand next to each other.
        """
        count, width = len(states), states.shape[2]
        scores = self.scores(queries.reshape(count, -1, width), keys).masked_fill(~valid[:, None], -torch.inf)
        weights = scores.softmax(dim=-1)  # [N, K·T, S]
        if self.observer is not None:
            self.observer(weights.reshape(len(queries), 1, -1, states.shape[1]))  # as one head
        return (weights @ states).view(queries.shape)

    def multiplications(self, width: int, source: int, target: int) -> int:
        """Return the multiplications for one row: each query meets each state twice, in a score and in the average."""
        return 2 * width * source * target


class DotAttention(SourceAttention):
    """sᵀ·h."""

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return score(s_t, h_j) [B, T, S] of queries [B, T, D] and keys [B, S, D]."""
        return queries @ keys.transpose(1, 2)


class GeneralAttention(SourceAttention):
    """sᵀ·W_a·h."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.weight)

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return score(s_t, h_j) [B, T, S] of queries [B, T, D] and keys [B, S, D]."""
        return queries @ self.weight @ keys.transpose(1, 2)

    def multiplications(self, width: int, source: int, target: int) -> int:
        """Return the multiplications for one row, those with W_a included."""
        return super().multiplications(width, source, target) + target * width**2


class AdditiveAttention(SourceAttention):
    """v_aᵀ·tanh(W_a·s + U_a·h)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(width, width, bias=False)  # W_a
        self.of_key = nn.Linear(width, width, bias=False)  # U_a
        self.score = nn.Linear(width, 1, bias=False)  # v_a
        for layer in (self.of_query, self.of_key, self.score):
            nn.init.xavier_uniform_(layer.weight)

    def keys(self, states: Tensor) -> Tensor:
        """Return U_a·h [B, S, D] for states [B, S, D]."""
        keys: Tensor = self.of_key(states)
        return keys

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return score(s_t, h_j) [B, T, S] of queries [B, T, D] and keys [B, S, D]."""
        # [B, T, S, D]: memory grows with both lengths and with the width
        sums = self.of_query(queries)[:, :, None] + keys[:, None]
        scores: Tensor = self.score(sums.tanh())
        return scores[..., 0]

    def multiplications(self, width: int, source: int, target: int) -> int:
        """Return the multiplications for one row, those with W_a and U_a included."""
        return super().multiplications(width, source, target) + (source + target) * width**2
