"""A Universal Transformer that reads facts: the encoder alone, over sentences of which each is one vector.

    f_i = √D · Σ_j m_j ∘ E·x_ij                 word j of sentence i; m_j is learned, and 1 at first
    H_0 = [f_0, f_1, …]                         sentence 0 is the question, and 1 the most recent fact
    H_t = layer(H_(t−1) + P_t)                  `layers/depth.py`, with a fixed number of steps or halting
    answer = softmax(W·H[0])                    one word of the vocabulary

This is how the authors' program reads bAbI, but there the question has weights of its own and is the last sentence,
behind the facts in the order of the story.

Axis letters: `N` different sentences of a batch, `M` facts, `J` words of a sentence, `Q` words of a question.
"""

from __future__ import annotations

import math
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.config.models.attention import DotProductSettings
from manyheads.config.models.universal_facts import UniversalFactsSettings
from manyheads.layers.depth import DepthRecurrence
from manyheads.layers.dropout import Dropout
from manyheads.layers.embedding import token_vectors
from manyheads.layers.encoder import EncoderLayer
from manyheads.models.interface import NO_WORD, Answers, FactModel, MemoryInputs
from manyheads.models.parts import make_depth, make_feed_forward, make_self_attention, normalization


class UniversalFacts(FactModel):
    """The encoder with recurrence in depth over a question and its facts."""

    def __init__(
        self,
        *,
        vocabulary: int,
        memory: int,
        words: int,
        layer: EncoderLayer,
        depth: DepthRecurrence,
        norm: nn.Module,
        dropout: float,
        ponder_cost: float = 0.0,
    ) -> None:
        super().__init__()
        width = layer.attention.width
        self.memory, self.ponder_cost = memory, ponder_cost
        self.vectors, self.output = token_vectors(vocabulary, width), token_vectors(vocabulary, width)  # [V, D] each
        self.places = nn.Parameter(torch.ones(words, width))  # m
        self.layer, self.depth, self.norm = layer, depth, norm
        self.dropout = Dropout(dropout)

    @classmethod
    def from_settings(cls, settings: UniversalFactsSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        kind = normalization(settings)
        attention = make_self_attention(
            DotProductSettings(dropout=settings.attention_dropout),
            settings.positions,
            width=settings.width,
            heads=settings.heads,
            seed=0,
            causal=False,
            bias=settings.biases,
        )
        return cls(
            vocabulary=vocabulary,
            memory=settings.memory,
            words=settings.words,
            layer=EncoderLayer(attention, make_feed_forward(settings), dropout=settings.dropout, normalization=kind),
            depth=make_depth(settings),
            norm=kind.final_norm(settings.width),
            dropout=settings.dropout,
            ponder_cost=0.0 if settings.halting is None else settings.halting.cost,
        )

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.vectors.device

    def answers(self, inputs: MemoryInputs) -> Answers:
        """Return the logits [B, V] of the answers, and the mean ponder cost of each row where positions halt."""
        facts = F.embedding(inputs.facts, self._sentences(inputs.sentences))  # [B, M, D]
        states = torch.cat((self._sentences(inputs.questions)[:, None], facts), dim=1)
        lengths = inputs.counts + 1
        mask = Mask.padding(lengths, states.shape[1])
        found = self.depth(self.dropout(states), lambda states, _: self.layer(states, mask))
        logits = F.linear(self.norm(found.output)[:, 0], self.output)
        if self.depth.halting is None:
            return Answers(logits)
        assert mask.valid is not None
        return Answers(logits, self.ponder_cost * (found.ponder * mask.valid).sum(dim=1) / lengths)

    def _sentences(self, words: Tensor) -> Tensor:
        """Return f [N, D] of sentences [N, J]."""
        places = torch.arange(words.shape[1], device=words.device).clamp(max=len(self.places) - 1)
        real = (words != NO_WORD)[..., None]
        summed = (F.embedding(words, self.vectors) * self.places[places] * real).sum(dim=1)
        return math.sqrt(summed.shape[-1]) * summed

    def multiplications(self, rows: int, memories: int) -> int:
        """Return those of all steps and of the answer layer for `rows` questions with as many facts."""
        vocabulary, width = self.output.shape
        length = memories + 1
        step = length * (4 * width**2 + self.layer.feed_forward.multiplications + 2 * width * length)
        return rows * (self.depth.steps * step + vocabulary * width)
