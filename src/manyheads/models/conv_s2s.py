"""ConvS2S, convolutional sequence to sequence learning (Gehring et al. 2017): gated convolutions with attention.

    e_j = w_j + p_j                                        3.1: a word vector and a position vector
    v([A B]) = A ⊗ σ(B)                                    3.2: gated linear units, half of a convolution's outputs
    h_i^l = v(W^l·[h_(i−k/2)^(l−1) … h_(i+k/2)^(l−1)] + b^l) + h_i^(l−1)
    d_i^l = W_d^l·h_i^l + b_d^l + g_i                      3.3, equation (1): g_i is the previous target's embedding
    a_ij^l = softmax_j(d_i^l·z_j)
    c_i^l = Σ_j a_ij^l·(z_j + e_j)                         3.3, equation (2): added to h_i^l in every layer (multi-step)

Section 3.4 keeps the variance of activations as it is: every sum of two is multiplied by √½, c by m·√(1/m) for m source
positions, and the gradient that reaches the encoder is divided by the number of attentions. Section 3.5 draws weights
from N(0, √(p/n)), or N(0, √(4p/n)) in front of a gated linear unit, which lets a quarter of the variance through; n is
the number of inputs, and p the share that dropout keeps of them. Weights are normalised. Convolutions of the decoder
see the past only (`layers/convolution.py`).

Like the authors' own code, and unlike equations (1) and (2), c passes through a linear map before it is added, and the
sums d and z + e are multiplied by √½ too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.observer import Observable
from manyheads.config.models.conv_s2s import ConvS2SSettings
from manyheads.layers.convolution import Kernel, NormalizedWeight, pointwise
from manyheads.layers.dropout import Dropout
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens
from manyheads.positions.learned import LearnedPositions
from manyheads.positions.limits import too_long

HALF = math.sqrt(0.5)  # times a sum of two independent terms of one variance: their variance again
EMBEDDING_DEVIATION = 0.1
LINEAR_GAIN, GATED_GAIN = 1.0, 4.0


@dataclass(frozen=True)
class ConvMemory:
    """What attention sees of a source: keys z and values z + e [B, S, D], which are real [B, S], and m·√(1/m) [B]."""

    keys: Tensor
    values: Tensor
    valid: Tensor
    scale: Tensor

    def select(self, rows: Tensor) -> ConvMemory:
        """Return the given rows [N], in that order."""
        return ConvMemory(self.keys[rows], self.values[rows], self.valid[rows], self.scale[rows])


@dataclass(frozen=True)
class ConvState:
    """Where decoding stands: the position, the last inputs of each layer's convolution [N·K, k − 1, D], and the source.

    Every source has K hypotheses, which stand next to each other and share its memory.
    """

    position: int
    pasts: list[Tensor]
    memory: ConvMemory
    hypotheses: int = 1

    def __len__(self) -> int:
        return len(self.memory.keys) * self.hypotheses

    def select(self, rows: Tensor) -> ConvState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        sources = rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        unmoved = torch.equal(sources, torch.arange(len(self.memory.keys), device=rows.device))
        memory = self.memory if unmoved else self.memory.select(sources)
        return replace(self, pasts=[past[rows] for past in self.pasts], memory=memory)


class InputEmbedding(nn.Module):
    """Dropout(w + p): a trained vector for each token and one for each position, both from N(0, 0.1)."""

    def __init__(self, vectors: nn.Parameter, *, maximum: int, dropout: float) -> None:
        super().__init__()
        self.vectors = vectors  # [V, D], possibly shared with other modules
        self.positions = LearnedPositions(vectors.shape[1], maximum=maximum)
        nn.init.normal_(self.positions.table, std=EMBEDDING_DEVIATION)
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Return [B, T, D] for token ids [B, T] at the positions start, start + 1, …."""
        stop = start + tokens.shape[1]
        if stop > self.positions.maximum:
            raise too_long(stop, self.positions.maximum, where="model.maximum_positions")
        return self.dropout(F.embedding(tokens, self.vectors) + self.positions(start, stop))


class NormalizedLinear(nn.Module):
    """A linear map with normalised weights; `kept` is the share of its inputs that dropout keeps."""

    def __init__(self, width: int, *, kept: float = 1.0) -> None:
        super().__init__()
        self.weight = NormalizedWeight(width, width, deviation=math.sqrt(LINEAR_GAIN * kept / width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, T, D] for states [B, T, D]."""
        return pointwise(states, self.weight(), self.bias)


class GatedConvolution(nn.Module):
    """v(W·[x_(i−k/2) … x_(i+k/2)] + b): a convolution to twice the width, half of which gates the other."""

    def __init__(self, width: int, kernel: int, *, dropout: float) -> None:
        super().__init__()
        self.kernel = Kernel(kernel)
        deviation = math.sqrt(GATED_GAIN * (1.0 - dropout) / (kernel * width))
        self.weight = NormalizedWeight(2 * width, kernel, width, deviation=deviation)
        self.bias = nn.Parameter(torch.zeros(2 * width))

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, S, D] for states [B, S, D]; each position sees both sides."""
        return F.glu(self.kernel.centred(states, self.weight(), self.bias), dim=-1)

    def causal(self, states: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return [B, T, D] for states [B, T, D] after a past [B, k − 1, D], and the past of what follows."""
        outputs, past = self.kernel.causal(states, self.weight(), self.bias, past)
        return F.glu(outputs, dim=-1), past


class StepAttention(Observable):
    """One step of attention: layer l of the decoder looks at the source in the light of all steps before it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = NormalizedLinear(width)
        self.output = NormalizedLinear(width)

    def forward(self, states: Tensor, embedded: Tensor, memory: ConvMemory) -> Tensor:
        """Return states [N·K, T, D] with what they see of N sources, each of which K rows share."""
        queries = (self.query(states) + embedded) * HALF  # equation (1)
        grouped = queries.reshape(len(memory.keys), -1, queries.shape[-1])  # [N, K·T, D]
        scores = grouped @ memory.keys.transpose(1, 2)
        weights = scores.masked_fill(~memory.valid[:, None], -torch.inf).softmax(dim=-1)  # [N, K·T, S]
        if self.observer is not None:
            self.observer(weights.reshape(len(states), 1, states.shape[1], -1))  # as one head
        contexts = (weights @ memory.values) * memory.scale[:, None, None]  # equation (2)
        return (self.output(contexts.view_as(states)) + states) * HALF


class EncoderLayer(nn.Module):
    """A gated convolution with a residual connection."""

    def __init__(self, width: int, kernel: int, *, dropout: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(width, kernel, dropout=dropout)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """Return [B, S, D] for states [B, S, D]; `real` [B, S, 1] makes the padding zeros, as beyond the edges."""
        return (self.convolution(self.dropout(states) * real) + states) * HALF


class DecoderLayer(nn.Module):
    """A gated convolution of the past, and attention to the source, with a residual connection around both."""

    def __init__(self, width: int, kernel: int, *, dropout: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(width, kernel, dropout=dropout)
        self.cross_attention = StepAttention(width)
        self.dropout = Dropout(dropout)

    def forward(
        self, states: Tensor, embedded: Tensor, memory: ConvMemory, past: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return [B, T, D] for states [B, T, D] after a past [B, k − 1, D], and the past of what follows."""
        convolved, past = self.convolution.causal(self.dropout(states), past)
        return (self.cross_attention(convolved, embedded, memory) + states) * HALF, past


class ConvEncoder(nn.Module):
    """Linear maps between embeddings and states, and layers between them."""

    def __init__(self, width: int, kernel: int, layers: int, *, dropout: float) -> None:
        super().__init__()
        self.first = NormalizedLinear(width, kept=1.0 - dropout)
        self.layers = nn.ModuleList(EncoderLayer(width, kernel, dropout=dropout) for _ in range(layers))
        self.last = NormalizedLinear(width)

    def forward(self, embedded: Tensor, real: Tensor) -> Tensor:
        """Return z [B, S, D] for embeddings e [B, S, D], of which those are read that are real [B, S, 1]."""
        states = self.first(embedded)
        for layer in self.layers:
            states = layer(states, real)
        return self.last(states)

    def multiplications(self, length: int) -> int:
        """Return those of reading `length` positions."""
        return length * _matrix_sizes(self)


class ConvDecoder(nn.Module):
    """Linear maps between embeddings and states, and layers between them."""

    def __init__(self, width: int, kernel: int, layers: int, *, dropout: float) -> None:
        super().__init__()
        self.first = NormalizedLinear(width, kept=1.0 - dropout)
        self.layers = nn.ModuleList(DecoderLayer(width, kernel, dropout=dropout) for _ in range(layers))
        self.last = NormalizedLinear(width)
        self.kernel = Kernel(kernel)
        self.dropout = Dropout(dropout)

    def forward(
        self, embedded: Tensor, memory: ConvMemory, pasts: Sequence[Tensor | None]
    ) -> tuple[Tensor, list[Tensor]]:
        """Return hidden states [B, T, D] for embeddings g [B, T, D] after each layer's past, and the pasts after them.

        Where there is no past, the sequences begin here.
        """
        states, after = self.first(embedded), []
        for layer, past in zip(self.layers, pasts, strict=True):
            states, seen = layer(states, embedded, memory, past)
            after.append(seen)
        return self.dropout(self.last(states)), after

    def multiplications(self, source: int, target: int) -> int:
        """Return those of writing `target` positions, each of which looks at all of the source in every layer."""
        width = self.first.bias.shape[0]
        return target * (_matrix_sizes(self) + len(self.layers) * 2 * source * width)


class ConvS2S(SequenceToSequence[ConvMemory, ConvState]):
    """The convolutional encoder–decoder with multi-step attention."""

    def __init__(
        self,
        *,
        source: InputEmbedding,
        target: InputEmbedding,
        encoder: ConvEncoder,
        decoder: ConvDecoder,
        output: nn.Parameter,
    ) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.encoder = encoder
        self.decoder = decoder
        self.output = output  # [V, D]; the same parameter as the embeddings' where they are tied
        self.bias = nn.Parameter(torch.zeros(len(output)))

    @classmethod
    def from_settings(cls, settings: ConvS2SSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        width, dropout, maximum = settings.width, settings.dropout, settings.maximum_positions
        target = _vectors(target_vocabulary, width, EMBEDDING_DEVIATION)
        source = target if settings.tie == "all" else _vectors(source_vocabulary, width, EMBEDDING_DEVIATION)
        apart = settings.tie == "none"
        output = _vectors(target_vocabulary, width, math.sqrt((1.0 - dropout) / width)) if apart else target
        return cls(
            source=InputEmbedding(source, maximum=maximum, dropout=dropout),
            target=InputEmbedding(target, maximum=maximum, dropout=dropout),
            encoder=ConvEncoder(width, settings.encoder_kernel, settings.encoder_layers, dropout=dropout),
            decoder=ConvDecoder(width, settings.decoder_kernel, settings.decoder_layers, dropout=dropout),
            output=output,
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    @property
    def output_bias(self) -> Tensor:
        """The output layer's bias b_o [V]."""
        return self.bias

    def encode(self, source: Tokens) -> ConvMemory:
        """Read source tokens [B, S]; the gradient of the layers, not of the embeddings, is divided (section 3.4)."""
        valid = Mask.padding(source.lengths, source.ids.shape[1]).valid
        assert valid is not None
        embedded = self.source(source.ids)
        encoded = self.encoder(embedded, valid[:, :, None].to(embedded.dtype))
        keys = _ScaledGradient.apply(encoded, 1.0 / len(self.decoder.layers))
        count = source.lengths.to(embedded.dtype)
        return ConvMemory(keys, (keys + embedded) * HALF, valid, count * count.rsqrt())

    def decode(self, target: Tensor, memory: ConvMemory) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T]."""
        hidden, _ = self.decoder(self.target(target), memory, [None] * len(self.decoder.layers))
        return Decoded(hidden)

    def begin(self, context: ConvMemory) -> ConvState:
        """Return the state before the first token, in which every layer has seen zeros."""
        return self.start(context)

    def start(self, context: ConvMemory, hypotheses: int = 1) -> ConvState:
        """Return the state before the first token; all hypotheses of a source share its memory."""
        kernel, rows = self.decoder.kernel, len(context.keys) * hypotheses
        pasts = [kernel.beginning(rows, context.keys) for _ in self.decoder.layers]
        return ConvState(0, pasts, context, hypotheses)

    def step(self, tokens: Tensor, state: ConvState) -> tuple[Tensor, ConvState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        embedded = self.target(tokens[:, None], start=state.position)
        hidden, pasts = self.decoder(embedded, state.memory, state.pasts)
        return self.logits(hidden)[:, 0], replace(state, position=state.position + 1, pasts=pasts)

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the convolutions, of the linear maps, and of queries with keys and values."""
        return rows * (self.encoder.multiplications(source) + self.decoder.multiplications(source, target))


def _vectors(vocabulary: int, width: int, deviation: float) -> nn.Parameter:
    """Return vectors [V, D] from N(0, deviation²)."""
    return nn.Parameter(torch.randn(vocabulary, width) * deviation)


def _matrix_sizes(stack: nn.Module) -> int:
    """Return the multiplications of one position: each weight takes part once."""
    return sum(parameter.numel() for parameter in stack.parameters() if parameter.dim() > 1)


class _ScaledGradient(torch.autograd.Function):
    """The identity, whose gradient is multiplied by a number."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, factor: float) -> Tensor:  # noqa: ANN401
        """Return the inputs."""
        context.factor = factor
        return inputs.view_as(inputs)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Scale the gradient."""
        return gradients[0] * context.factor, None
