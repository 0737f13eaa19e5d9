"""The end-to-end memory network (Sukhbaatar et al. 2015), which answers a question by attention over facts.

    m_i = Σ_j l_j ∘ A·x_ij + T_A(i)        c_i = Σ_j l_j ∘ C·x_ij + T_C(i)        u¹ = Σ_j l_j ∘ B·q_j
    p_i = softmax_i(uᵀ·m_i)                o = Σ_i p_i·c_i                        (1), (3)
    u^(k+1) = u^k + o^k                    answer = softmax(W·u^(K+1))            (4), (2)
    l_kj = (1 − j/J) − (k/d)·(1 − 2j/J)                                           position encoding

x_ij is word j of fact i, and i = 1 is the most recent fact. Each hop has an A and a C of its own. With *adjacent*
tying, the C of a hop is the A of the next, B is the first A, and W is the last C. With *layer-wise* tying, all hops
have the same A and C, and u^(k+1) = H·u^k + o^k. During the linear start there is no softmax in (1).

Axis letters: `N` different sentences of a batch, `M` memories, `J` words of a sentence, `Q` words of a question, `E`
embeddings of facts.
"""

from __future__ import annotations

from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.observer import Observable
from manyheads.attention.scheduled import Scheduled
from manyheads.config.models.memory_network import MemoryNetworkSettings
from manyheads.layers.dropout import Dropout
from manyheads.models.interface import NO_WORD, Answers, FactModel, MemoryInputs

DEVIATION = 0.1  # of the first weights


class MemoryAttention(Observable):
    """p = softmax(uᵀ·m): how much a hop reads of each memory.

    If there are `places`, that many memories take part in the softmax: those without a fact have a score of 0.
    """

    def __init__(self, *, places: int) -> None:
        super().__init__()
        self.places = places

    def forward(self, state: Tensor, memories: Tensor, valid: Tensor, linear: Tensor | None) -> Tensor:
        """Return the weights [B, M] for states [B, D] and memories [B, M, D], of which some are `valid` [B, M].

        Without a valid memory they are zero. Where `linear` [1] is not 0, there is no softmax.
        """
        scores = (memories @ state[:, :, None])[:, :, 0]
        masked = scores.masked_fill(~valid, torch.finfo(scores.dtype).min)
        if self.places:  # n scores of 0 are one of log n
            empty = (self.places - valid.sum(dim=-1, keepdim=True)).to(scores.dtype).log()
            masked = torch.cat((masked, empty), dim=-1)
        weights = masked.softmax(dim=-1)[:, : scores.shape[1]]
        if linear is not None:
            weights = torch.where(linear > 0, scores, weights)
        weights = weights.masked_fill(~valid, 0.0)
        if self.observer is not None:
            self.observer(weights[:, None, None])  # as one head and one query
        return weights


class Hop(Scheduled):
    """One reading of the memory; until training step `linear_until` it has no softmax.

    Whether it has one is part of the saved weights, since they were learned that way.
    """

    linear: Tensor | None

    def __init__(self, *, places: int, linear_until: int) -> None:
        super().__init__()
        self.linear_until = linear_until
        self.cross_attention = MemoryAttention(places=places)
        self.register_buffer("linear", torch.ones(1) if linear_until else None)

    def at_step(self, step: int) -> None:
        """Insert the softmax when its step is reached."""
        if self.linear is not None:
            self.linear.fill_(float(step < self.linear_until))

    def forward(self, state: Tensor, memories: Tensor, outputs: Tensor, valid: Tensor) -> Tensor:
        """Return o [B, D] for a state [B, D], memories m and outputs c [B, M, D], of which some are valid [B, M]."""
        weights = self.cross_attention(state, memories, valid, self.linear)
        return (weights[:, None] @ outputs)[:, 0]


class MemoryNetwork(FactModel):
    """The end-to-end memory network."""

    def __init__(
        self,
        *,
        vocabulary: int,
        width: int,
        hops: int,
        memory: int,
        adjacent: bool,
        position_encoding: bool,
        temporal: bool,
        empty_places: bool,
        relu: bool,
        linear_until: int,
        dropout: float,
    ) -> None:
        super().__init__()
        count = hops + 1 if adjacent else 2
        self.memory, self.relu, self.position_encoding = memory, relu, position_encoding
        self.embeddings = nn.ParameterList(_drawn(vocabulary, width) for _ in range(count))  # E of [V, D]
        self.times = nn.ParameterList(_drawn(memory, width) for _ in range(count if temporal else 0))
        self.question = None if adjacent else _drawn(vocabulary, width)  # B
        self.answer = None if adjacent else _drawn(vocabulary, width)  # W
        self.between = None if adjacent else _between(width)  # H
        self.hops = nn.ModuleList(
            Hop(places=memory if empty_places else 0, linear_until=linear_until) for _ in range(hops)
        )
        self.dropout = Dropout(dropout)

    @classmethod
    def from_settings(cls, settings: MemoryNetworkSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        return cls(
            vocabulary=vocabulary,
            width=settings.width,
            hops=settings.hops,
            memory=settings.memory,
            adjacent=settings.tying == "adjacent",
            position_encoding=settings.position_encoding,
            temporal=settings.temporal,
            empty_places=settings.empty_places,
            relu=settings.relu,
            linear_until=settings.linear_start_until,
            dropout=settings.dropout,
        )

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.embeddings[0].device

    def answers(self, inputs: MemoryInputs) -> Answers:
        """Return the logits [B, V] of the answers."""
        sentences, facts, counts, questions = inputs
        valid = torch.arange(facts.shape[1], device=facts.device) < counts[:, None]
        memories = self.memories(sentences, facts)
        state = self._sentences(questions, self.embeddings[0] if self.question is None else self.question)
        for number, hop in enumerate(self.hops):
            first = number if self.between is None else 0  # A, and C is the next one
            output = hop(state, memories[first], memories[first + 1], valid)
            state = output + (state if self.between is None else self.between(state))
            state = F.relu(state) if self.relu else state
        answers = self.embeddings[-1] if self.answer is None else self.answer
        return Answers(F.linear(self.dropout(state), answers))

    def memories(self, sentences: Tensor, facts: Tensor) -> list[Tensor]:
        """Return the vectors of facts [B, M], numbers of sentences [N, J], in each embedding: E of [B, M, D]."""
        table = torch.cat([*self.embeddings], dim=1)  # all embeddings look up the same words
        vectors = F.embedding(facts, self._sentences(sentences, table)).split(self.embeddings[0].shape[1], dim=-1)
        if not self.times:
            return list(vectors)
        return [one + times[: facts.shape[1]] for one, times in zip(vectors, self.times, strict=True)]

    def _sentences(self, words: Tensor, table: Tensor) -> Tensor:
        """Return Σ_j l_j ∘ E·x_j [N, E·D] of sentences [N, J] for embeddings side by side [V, E·D].

        l_kj is a sum of two products of a factor that depends on the place j and one that depends on the dimension k,
        so two weighted sums over the words are enough.
        """
        real = (words != NO_WORD).to(table.dtype)
        if not self.position_encoding:
            return _weighted(words, real, table)
        places = real.cumsum(dim=-1) / real.sum(dim=-1, keepdim=True).clamp(min=1.0)  # j/J
        width = self.embeddings[0].shape[1]
        dimensions = torch.arange(1, width + 1, device=table.device, dtype=table.dtype) / width  # k/d
        dimensions = dimensions.repeat(table.shape[1] // width)
        constant = _weighted(words, real * (1.0 - places), table)
        return constant - dimensions * _weighted(words, real * (1.0 - 2.0 * places), table)

    def multiplications(self, rows: int, memories: int) -> int:
        """Return the multiplications of a forward pass over `rows` questions with as many memories, look-ups aside."""
        vocabulary, width = self.embeddings[0].shape
        between = 0 if self.between is None else len(self.hops) * width**2
        return rows * (len(self.hops) * 2 * memories * width + between + vocabulary * width)


def _weighted(words: Tensor, weights: Tensor, table: Tensor) -> Tensor:
    """Return the weighted sums [N, E·D] of the rows of a table [V, E·D] at words [N, J] with weights [N, J]."""
    return F.embedding_bag(words, table, mode="sum", per_sample_weights=weights)


def _drawn(*shape: int) -> nn.Parameter:
    """Return first weights: Gaussian with σ = 0.1."""
    parameter = nn.Parameter(torch.empty(shape))
    nn.init.normal_(parameter, std=DEVIATION)
    return parameter


def _between(width: int) -> nn.Linear:
    """Return H, without a bias."""
    layer = nn.Linear(width, width, bias=False)
    nn.init.normal_(layer.weight, std=DEVIATION)
    return layer
