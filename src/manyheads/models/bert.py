"""BERT (Devlin et al. 2018): the Transformer's encoder alone, which reads a text, or a pair, in both directions.

    x = Dropout(LayerNorm(E[token] + P[position] + S[segment]))
    last hidden state = N post-norm encoder layers of x                          [B, S, D]

Heads may stand on top: the pooler, tanh(W·h₀ + b) of the first token, which speaks for the whole sequence; the word
head, which predicts tokens that were masked: LayerNorm(gelu(W·h + b))·Eᵀ + b_V, with E the token embeddings; and the
head of a task, one linear layer on the pooled vector (labels) or on every token (where an answer starts and ends).

The layers are those of the paper's encoder, with gelu, dropout of the attention weights and another ε.
"""

from __future__ import annotations

from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.config.models.bert import BertSettings
from manyheads.layers.dropout import Dropout
from manyheads.layers.encoder import Encoder, EncoderLayer
from manyheads.layers.feed_forward import ACTIVATIONS, FeedForward
from manyheads.layers.norms import Normalization
from manyheads.models.interface import EncoderInputs, TextEncoder
from manyheads.models.parts import make_self_attention
from manyheads.positions.learned import LearnedPositions

DEVIATION = 0.02  # of fresh weights, as in the original


class BertEmbedding(nn.Module):
    """Tokens to vectors: Dropout(LayerNorm(E[token] + P[position] + S[segment])), without the paper's √d_model."""

    def __init__(self, vocabulary: int, settings: BertSettings) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.empty(vocabulary, settings.width))
        self.positions = LearnedPositions(settings.width, maximum=settings.positions)
        self.segments = nn.Parameter(torch.empty(settings.segments, settings.width))
        self.norm = nn.LayerNorm(settings.width, eps=settings.norm_epsilon)
        self.dropout = Dropout(settings.dropout)

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Return [B, S, D] for token ids and segment numbers [B, S]."""
        embedded = F.embedding(tokens, self.tokens) + F.embedding(segments, self.segments)
        return self.dropout(self.norm(embedded + self.positions(0, tokens.shape[1])))


class Pooler(nn.Module):
    """One vector for a whole sequence: tanh(W·h₀ + b) of its first token's state."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, D] for last hidden states [B, S, D]."""
        return torch.tanh(self.layer(states[:, 0]))


class WordHead(nn.Module):
    """What stands between hidden states and the token embeddings when masked tokens are predicted."""

    def __init__(self, vocabulary: int, settings: BertSettings) -> None:
        super().__init__()
        self.layer = nn.Linear(settings.width, settings.width)
        self.activation = ACTIVATIONS[settings.activation]
        self.norm = nn.LayerNorm(settings.width, eps=settings.norm_epsilon)
        self.bias = nn.Parameter(torch.zeros(vocabulary))  # of the output layer, whose weights are the embeddings

    def forward(self, states: Tensor) -> Tensor:
        """Return what is to be multiplied by the embeddings, [N, D], for states [N, D]."""
        return self.norm(self.activation(self.layer(states)))


class BertModel(TextEncoder):
    """The encoder with its embeddings, and the heads it has."""

    def __init__(
        self,
        embedding: BertEmbedding,
        encoder: Encoder,
        *,
        pooler: Pooler | None = None,
        word_head: WordHead | None = None,
        task_head: nn.Linear | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.pooler = pooler
        self.word_head = word_head
        self.task_head = task_head
        self.dropout = Dropout(dropout)  # before the task's head

    @classmethod
    def from_settings(cls, settings: BertSettings, *, vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model with fresh weights."""
        model = cls(
            BertEmbedding(vocabulary, settings),
            Encoder((_layer(settings, number) for number in range(settings.layers)), width=settings.width),
            pooler=Pooler(settings.width) if settings.pooler else None,
            word_head=WordHead(vocabulary, settings) if settings.word_head else None,
            task_head=nn.Linear(settings.width, settings.outputs) if settings.outputs else None,
            dropout=settings.dropout,
        )
        initialise(model)
        return model

    def forward(self, inputs: EncoderInputs) -> Tensor:
        """Return the last hidden state [B, S, D]; padding is not attended to."""
        mask = Mask(valid=inputs.attention_mask.bool())
        return self.encoder(self.embedding(inputs.input_ids, inputs.token_type_ids), mask)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.embedding.tokens.device

    @property
    def token_vectors(self) -> Tensor:
        """The token embeddings [V, D]."""
        return self.embedding.tokens

    @property
    def token_bias(self) -> Tensor:
        """The bias [V] of the output layer; the model has a word head."""
        assert self.word_head is not None
        return self.word_head.bias

    def token_states(self, states: Tensor) -> Tensor:
        """Return what is multiplied by the embeddings, [N, D], for states [N, D]; the model has a word head."""
        assert self.word_head is not None
        return self.word_head(states)

    def word_logits(self, states: Tensor) -> Tensor:
        """Return the logits [N, V] of the tokens at positions whose states are [N, D]; the model has a word head."""
        return F.linear(self.token_states(states), self.token_vectors, self.token_bias)

    def label_logits(self, states: Tensor) -> Tensor:
        """Return one logit per label [B, outputs] for last hidden states [B, S, D], from the first token's."""
        assert self.task_head is not None
        pooled = states[:, 0] if self.pooler is None else self.pooler(states)
        return self.task_head(self.dropout(pooled))

    def span_logits(self, states: Tensor) -> Tensor:
        """Return the task's logits of every token [B, S, outputs] for last hidden states [B, S, D]."""
        assert self.task_head is not None
        return self.task_head(self.dropout(states))

    def multiplications(self, rows: int, length: int) -> int:
        """Return those of the projections, of the feed-forward networks, and of queries with keys and values."""
        return rows * self.encoder.multiplications(length)


def _layer(settings: BertSettings, number: int) -> EncoderLayer:
    """Return one layer of the encoder."""
    return EncoderLayer(
        _attention(settings, number),
        FeedForward(settings.width, settings.feed_forward, activation=settings.activation),
        dropout=settings.dropout,
        normalization=Normalization(epsilon=settings.norm_epsilon),
    )


def _attention(settings: BertSettings, number: int) -> MultiHeadAttention:
    """Return the self-attention of a layer; positions are in the embeddings."""
    return make_self_attention(
        settings.attention, None, width=settings.width, heads=settings.heads, seed=number, causal=False
    )


def initialise(module: nn.Module) -> None:
    """Draw every matrix from N(0, 0.02²) and set the biases of linear layers to zero, as the original does."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=DEVIATION)
    for part in module.modules():
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
