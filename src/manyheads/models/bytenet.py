"""ByteNet, neural machine translation in linear time (Kalchbrenner et al. 2016): dilated convolutions, no attention.

    x + W₃·ReLU(LN(W₂ ∗_r ReLU(LN(W₁·ReLU(LN(x))))))         a residual block: 2d → d → d → 2d, dilation r = 1, 2, 4 …
    g₁, g₂, g₃ = σ(W ∗_r h)        u = tanh(W ∗_r h)
    MU(h) = g₁ ⊗ tanh(g₂ ⊗ h + g₃ ⊗ u)                       the multiplicative unit, which may take ReLU's place

The decoder stands on top of the encoder, column by column, instead of attending to it (section 3.1): what it reads at
position t is the previous token's embedding plus column t of the encoder's representation. The source is therefore
unfolded to |t̂| = a·|s| + b columns (3.2): behind its last token the encoder reads zeros, and its convolutions carry the
source into them. The decoder writes until it writes the end token. A target that is longer than |t̂| goes on, from the
position |t̂| on with no representation (zeros), on what it has written and on what its convolutions still hold.

The encoder's convolutions are centred, those of the decoder causal (`layers/convolution.py`). Padding in a batch is
everything behind the columns of a row, and zeros for every convolution, as it is beyond the edges of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.config.models.bytenet import ByteNetSettings
from manyheads.layers.convolution import Kernel, pointwise
from manyheads.layers.dropout import Dropout
from manyheads.layers.embedding import Embedding, tied_vectors
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens

POINT = Kernel(1)


@dataclass(frozen=True)
class Unfolding:
    """The number of columns |t̂| that a source is unfolded to, at least one for each of its tokens."""

    ratio: float = 1.2  # a
    extra: int = 0  # b

    def columns(self, length: int) -> int:
        """Return |t̂| for a source of |s| tokens, rounded up."""
        return max(length, math.ceil(self.ratio * length - 1e-9) + self.extra)  # 1.1 · 10 is a little above 11


@dataclass(frozen=True)
class ByteNetState:
    """Where decoding stands: the position, what each block's convolution still sees [N·K, span, D/2], and the source.

    Every source [N, |t̂|, D] has K hypotheses, which stand next to each other and share its representation.
    """

    position: int
    pasts: list[Tensor]
    columns: Tensor
    hypotheses: int = 1

    def __len__(self) -> int:
        return len(self.columns) * self.hypotheses

    def select(self, rows: Tensor) -> ByteNetState:
        """Return the given rows of the batch [M·K], in that order; the K of a source stay together."""
        sources = rows.view(-1, self.hypotheses)[:, 0] // self.hypotheses
        unmoved = torch.equal(sources, torch.arange(len(self.columns), device=rows.device))
        columns = self.columns if unmoved else self.columns[sources]
        return replace(self, pasts=[past[rows] for past in self.pasts], columns=columns)


class Convolution(nn.Module):
    """A convolution: centred, unless it continues a past."""

    def __init__(self, inputs: int, outputs: int, kernel: Kernel, *, causal: bool) -> None:
        super().__init__()
        self.kernel = kernel
        self.causal = causal
        deviation = math.sqrt(2.0 / (kernel.width * inputs))  # He et al. 2015, for inputs behind ReLUs
        self.weight = nn.Parameter(torch.randn(outputs, kernel.width, inputs) * deviation)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, states: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return [B, T, outputs] for states [B, T, inputs], and the past of what follows where it is causal."""
        if self.causal:
            return self.kernel.causal(states, self.weight, self.bias, past)
        return self.kernel.centred(states, self.weight, self.bias), None


class PointConvolution(nn.Module):
    """A convolution of width 1: a linear map at every position."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * math.sqrt(1.0 / inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, T, outputs] for states [B, T, inputs]."""
        return pointwise(states, self.weight, self.bias)


class ReluConvolution(nn.Module):
    """ReLU(LN(W₂ ∗_r ReLU(LN(h)))), the middle of a block for translation."""

    def __init__(self, width: int, kernel: Kernel, *, causal: bool) -> None:
        super().__init__()
        self.kernel = kernel
        self.before = nn.LayerNorm(width)
        self.convolution = Convolution(width, width, kernel, causal=causal)
        self.after = nn.LayerNorm(width)

    def forward(self, states: Tensor, real: Tensor | None, past: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return [B, T, d] for states [B, T, d], of which those are read that are `real` [B, T, 1]."""
        convolved, past = self.convolution(_only(F.relu(self.before(states)), real), past)
        return F.relu(self.after(convolved)), past


class MultiplicativeUnit(nn.Module):
    """MU(h) = g₁ ⊗ tanh(g₂ ⊗ h + g₃ ⊗ u): an LSTM's gates around a convolution."""

    def __init__(self, width: int, kernel: Kernel, *, causal: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gates = Convolution(width, 4 * width, kernel, causal=causal)

    def forward(self, states: Tensor, real: Tensor | None, past: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return [B, T, d] for states [B, T, d], of which those are read that are `real` [B, T, 1]."""
        inputs = _only(self.norm(states), real)
        gates, past = self.gates(inputs, past)
        first, second, third, update = gates.chunk(4, dim=-1)
        inner = second.sigmoid() * inputs + third.sigmoid() * update.tanh()
        return first.sigmoid() * inner.tanh(), past


class MultiplicativeConvolution(nn.Module):
    """Two multiplicative units, the first of which is wide: the middle of a residual multiplicative block."""

    def __init__(self, width: int, kernel: Kernel, *, causal: bool) -> None:
        super().__init__()
        self.kernel = kernel
        self.wide = MultiplicativeUnit(width, kernel, causal=causal)
        self.narrow = MultiplicativeUnit(width, POINT, causal=False)

    def forward(self, states: Tensor, real: Tensor | None, past: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return [B, T, d] for states [B, T, d], of which those are read that are `real` [B, T, 1]."""
        states, past = self.wide(states, real, past)
        states, _ = self.narrow(states, None, None)
        return states, past


class ResidualBlock(nn.Module):
    """x + W₃·middle(W₁·ReLU(LN(x))), with a middle of half the width."""

    def __init__(self, width: int, middle: ReluConvolution | MultiplicativeConvolution, *, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.narrow = PointConvolution(width, width // 2)
        self.middle = middle
        self.widen = PointConvolution(width // 2, width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, real: Tensor | None, past: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return [B, T, D] for states [B, T, D] after a past, and the past of what follows where it is causal."""
        inner, past = self.middle(self.narrow(F.relu(self.norm(states))), real, past)
        return states + self.dropout(self.widen(inner)), past


class Projection(nn.Module):
    """W·ReLU(LN(x)): what a stack of blocks hands on, since their sums are not normalised."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = PointConvolution(width, width)

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, T, D] for states [B, T, D]."""
        return self.linear(F.relu(self.norm(states)))


class ByteNet(SequenceToSequence[Tensor, ByteNetState]):
    """The encoder and the decoder on top of it. The memory is the representation of the sources [B, |t̂|, D]."""

    def __init__(
        self,
        *,
        source: Embedding,
        target: Embedding,
        encoder: list[ResidualBlock],
        decoder: list[ResidualBlock],
        output: nn.Parameter,
        unfolding: Unfolding,
    ) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.output = output  # [V, D]; the same parameter as the embeddings' where they are tied
        self.unfolding = unfolding
        self.encoder = nn.ModuleList(encoder)
        self.decoder = nn.ModuleList(decoder)
        self.kernels = [block.middle.kernel for block in decoder]
        self.stacked = Projection(output.shape[1])  # from the encoder to the decoder
        self.final = Projection(output.shape[1])  # from the decoder to the output layer

    @classmethod
    def from_settings(cls, settings: ByteNetSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        source, target, output = tied_vectors(source_vocabulary, target_vocabulary, settings.width, tie=settings.tie)
        return cls(
            source=Embedding(source, None, dropout=settings.dropout),
            target=Embedding(target, None, dropout=settings.dropout),
            encoder=_blocks(settings, settings.encoder_layers, settings.encoder_kernel, causal=False),
            decoder=_blocks(settings, settings.decoder_layers, settings.decoder_kernel, causal=True),
            output=output,
            unfolding=Unfolding(settings.unfold_ratio, settings.unfold_extra),
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D]."""
        return self.output

    def encode(self, source: Tokens) -> Tensor:
        """Read source tokens [B, S], unfolded to |t̂| columns; return the representation [B, |t̂|, D]."""
        length = source.ids.shape[1]
        columns = [self.unfolding.columns(count) for count in range(length + 1)]
        unfolded = torch.tensor(columns, device=source.ids.device)[source.lengths]
        embedded = F.pad(self.source(source.ids), (0, 0, 0, columns[length] - length))
        places = torch.arange(columns[length], device=source.ids.device)[None, :, None]
        states = embedded * (places < source.lengths[:, None, None])
        real = (places < unfolded[:, None, None]).to(states.dtype)
        for block in self.encoder:
            states, _ = block(states, real, None)
        return self.stacked(states) * real

    def decode(self, target: Tensor, memory: Tensor) -> Decoded:
        """Return hidden states [B, T, D] of target ids [B, T]."""
        missing = max(0, target.shape[1] - memory.shape[1])
        columns = F.pad(memory[:, : target.shape[1]], (0, 0, 0, missing))
        hidden, _ = self._read(self.target(target) + columns, [None] * len(self.decoder))
        return Decoded(hidden)

    def begin(self, context: Tensor) -> ByteNetState:
        """Return the state before the first token, in which every block has seen zeros."""
        return self.start(context)

    def start(self, context: Tensor, hypotheses: int = 1) -> ByteNetState:
        """Return the state before the first token; all hypotheses of a source share its representation."""
        inner = context[..., : context.shape[-1] // 2]
        rows = len(context) * hypotheses
        pasts = [kernel.beginning(rows, inner) for kernel in self.kernels]
        return ByteNetState(0, pasts, context, hypotheses)

    def step(self, tokens: Tensor, state: ByteNetState) -> tuple[Tensor, ByteNetState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        inputs = self.target(tokens[:, None])
        if state.position < state.columns.shape[1]:
            column = state.columns[:, state.position : state.position + 1]
            inputs = inputs + column.repeat_interleave(state.hypotheses, dim=0)
        hidden, pasts = self._read(inputs, state.pasts)
        return self.logits(hidden)[:, 0], replace(state, position=state.position + 1, pasts=pasts)

    def _read(self, states: Tensor, pasts: Sequence[Tensor | None]) -> tuple[Tensor, list[Tensor]]:
        """Read inputs [B, T, D] after each block's past; return what the output layer gets, and the pasts after it."""
        after = []
        for block, past in zip(self.decoder, pasts, strict=True):
            states, seen = block(states, None, past)
            after.append(seen)
        return self.final(states), after

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the convolutions and of the linear maps."""
        read, written = (
            self.output.shape[1] ** 2 + sum(_matrix_size(block) for block in blocks)
            for blocks in (self.encoder, self.decoder)
        )
        return rows * (self.unfolding.columns(source) * read + target * written)


def _blocks(settings: ByteNetSettings, layers: int, kernel: int, *, causal: bool) -> list[ResidualBlock]:
    """Return a stack of blocks whose dilations double and begin again."""
    middle = ReluConvolution if settings.block == "relu" else MultiplicativeConvolution
    return [
        ResidualBlock(
            settings.width,
            middle(settings.width // 2, Kernel(kernel, dilation), causal=causal),
            dropout=settings.dropout,
        )
        for dilation in settings.dilations(layers)
    ]


def _matrix_size(block: nn.Module) -> int:
    """Return the multiplications of one position: each weight of a convolution or of a linear map takes part once."""
    return sum(parameter.numel() for parameter in block.parameters() if parameter.dim() > 1)


def _only(states: Tensor, real: Tensor | None) -> Tensor:
    """Return states [B, T, D] with zeros where they are not real [B, T, 1]."""
    return states if real is None else states * real
