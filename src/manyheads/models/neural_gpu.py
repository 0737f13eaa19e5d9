"""The Neural GPU (Kaiser and Sutskever 2015) and the Extended Neural GPU (Kaiser and Bengio 2016).

The source is written into the first column of a mental image s_0 [n, w, m], which is zero elsewhere. A convolutional
gated recurrent unit changes all of the image at once:

    CGRU(s) = u ⊙ s + (1 − u) ⊙ tanh(U ∗ (r ⊙ s) + B)
          u = σ′(U′ ∗ s + B′)        r = σ′(U″ ∗ s + B″)        σ′(x) = max(0, min(1, 1.2·σ(x) − 0.1))

Each step is l such units, and an image of n positions takes n steps: s_t = CGRU_l(… CGRU_1(s_(t−1)) …). So the work
grows with the length of the source, as an algorithm's does, and the gates, which reach 0 and 1, can keep a cell as it
is for any number of steps. The plain model reads its outputs off the first column of s_n, each on its own:

    o_k = argmax(O·s_n[k, 0])

The extended model writes them one after the other. Its decoder starts from d_0 = s_n and from an empty tape p_0, and
each output, embedded, is put on the tape at its position:

    d_(k+1) = CGRU^d(d_k, p_k)        o_k = argmax(O·d_(k+1)[k, 0])        p_(k+1) = p_k, with p_(k+1)[k, 0] = E′·o_k
    CGRU^d(s, p) = u ⊙ s + (1 − u) ⊙ tanh(U ∗ (r ⊙ s) + W ∗ p + B),  with W′ ∗ p in u and W″ ∗ p in r

Parameter-sharing relaxation: step t of the encoder uses set t mod r of r sets of parameters, which a penalty in
training pulls towards their mean. Images are held as [B, m, n, w], as convolutions take them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.config.models.neural_gpu import NeuralGPUSettings
from manyheads.layers.embedding import Embedding, token_vectors
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens

FULL_DROPOUT = 8  # positions of an image up to which dropout has its full probability


@dataclass(frozen=True)
class Image:
    """Mental images [B, m, n, w], and which of their positions belong to each row [B, 1, n, 1]."""

    cells: Tensor
    valid: Tensor

    def __len__(self) -> int:
        return len(self.cells)

    def select(self, rows: Tensor) -> Image:
        """Return the images of the given rows [M], in that order."""
        return Image(self.cells[rows], self.valid[rows])

    def read(self, position: int) -> Tensor:
        """Return the first column at a position [B, m]; zero beyond the image."""
        if position >= self.cells.shape[2]:
            return torch.zeros_like(self.cells[:, :, 0, 0])
        return self.cells[:, :, position, 0]


@dataclass(frozen=True)
class NeuralGPUState:
    """Where decoding stands: the image, the tape [B, m, n, w] of a decoder that has one, and the next position."""

    image: Image
    tape: Tensor | None = None
    position: int = 0

    def __len__(self) -> int:
        return len(self.image)

    def select(self, rows: Tensor) -> NeuralGPUState:
        """Return the given rows of the batch [M], in that order."""
        tape = None if self.tape is None else self.tape[rows]
        return replace(self, image=self.image.select(rows), tape=tape)


def gate(inputs: Tensor) -> Tensor:
    """Return σ′(x) = max(0, min(1, 1.2·σ(x) − 0.1)), a sigmoid that reaches 0 and 1."""
    return (1.2 * torch.sigmoid(inputs) - 0.1).clamp(0.0, 1.0)


class CGRU(nn.Module):
    """A convolutional gated recurrent unit, of the image alone or (CGRU^d) of the image and a tape."""

    def __init__(self, width: int, kernel: int, *, tape: bool = False) -> None:
        super().__init__()
        inputs = 2 * width if tape else width
        self.gates = nn.Conv2d(inputs, 2 * width, kernel, padding="same")  # u and r
        self.candidate = nn.Conv2d(inputs, width, kernel, padding="same")
        with torch.no_grad():
            assert self.gates.bias is not None
            self.gates.bias.fill_(1.0)  # open at first, so that an image is kept and gradients reach far back

    def forward(self, state: Tensor, *tape: Tensor) -> Tensor:
        """Return the next state [B, m, n, w] of states [B, m, n, w], and of a tape of the same shape."""
        update, reset = gate(self.gates(torch.cat((state, *tape), dim=1))).chunk(2, dim=1)
        candidate = torch.tanh(self.candidate(torch.cat((reset * state, *tape), dim=1)))
        return update * state + (1.0 - update) * candidate


class Steps(nn.Module):
    """The steps of an encoder or decoder: l CGRUs one after the other, with r sets of parameters in turn."""

    def __init__(
        self, width: int, kernel: int, *, layers: int, dropout: float, sets: int = 1, tape: bool = False
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.sets = nn.ModuleList(
            nn.ModuleList(CGRU(width, kernel, tape=tape) for _ in range(layers)) for _ in range(sets)
        )

    def forward(self, number: int, state: Tensor, changing: Tensor, *tape: Tensor) -> Tensor:
        """Take step `number` from a state [B, m, n, w]; cells that are not `changing` [B, 1, n, 1] stay."""
        units = self.sets[number % len(self.sets)]
        assert isinstance(units, nn.ModuleList)
        state = self._dropped(state, changing)
        for unit in units:
            state = torch.where(changing, unit(state, *tape), state)
        return state

    def _dropped(self, state: Tensor, changing: Tensor) -> Tensor:
        """Apply dropout to the changing cells between two steps.

        The probability falls with the length of the image, as in the authors' program: kept cells are enlarged in every
        step, and a cell that the gates keep for n steps would otherwise grow exponentially.
        """
        if not self.training or self.dropout == 0.0:
            return state
        probability = self.dropout * min(1.0, FULL_DROPOUT / state.shape[2])
        return torch.where(changing, F.dropout(state, probability), state)

    @property
    def weights(self) -> int:
        """The weights of the kernels of one step, each of which is used once for every cell."""
        return sum(parameter.numel() for parameter in self.sets[0].parameters() if parameter.dim() > 1)

    def distance(self) -> Tensor:
        """Return the squared distance of all sets of parameters from their mean, what relaxation pulls."""
        alike = zip(*(one.parameters() for one in self.sets), strict=True)
        stacks = [torch.stack(parameters) for parameters in alike]
        return torch.stack([(stack - stack.mean(dim=0)).square().sum() for stack in stacks]).sum()


class IndependentDecoder(nn.Module):
    """The plain model's: every output is read off the last image, whatever the others are."""

    def begin(self, image: Image) -> NeuralGPUState:
        """Return the state before the first output."""
        return NeuralGPUState(image)

    def decode(self, target: Tensor, image: Image) -> Tensor:
        """Return the hidden states [B, T, m] of all positions of target ids [B, T], at once."""
        column = image.cells[..., 0].transpose(1, 2)  # [B, n, m]
        return F.pad(column, (0, 0, 0, max(0, target.shape[1] - column.shape[1])))[:, : target.shape[1]]

    def step(self, tokens: Tensor, state: NeuralGPUState) -> tuple[Tensor, NeuralGPUState]:
        """Return the hidden state [B, m] of the next position; the tokens [B] do not matter."""
        return state.image.read(state.position), replace(state, position=state.position + 1)


class ActiveMemoryDecoder(nn.Module):
    """The extended model's: a decoder image that changes with every output, and a tape of the outputs so far."""

    def __init__(self, embedding: Embedding, steps: Steps) -> None:
        super().__init__()
        self.embedding, self.steps = embedding, steps

    def begin(self, image: Image) -> NeuralGPUState:
        """Return the state before the first output: d_0 = s_n, and an empty tape."""
        return NeuralGPUState(image, torch.zeros_like(image.cells))

    def decode(self, target: Tensor, image: Image) -> Tensor:
        """Return the hidden states [B, T, m] of target ids [B, T]: step after step, since each changes the image."""
        state, outputs = self.begin(image), []
        for vectors in self.embedding(target).unbind(dim=1):
            hidden, state = self._read(vectors, state)
            outputs.append(hidden)
        return torch.stack(outputs, dim=1)

    def step(self, tokens: Tensor, state: NeuralGPUState) -> tuple[Tensor, NeuralGPUState]:
        """Read tokens [B], those that were written last; return the hidden state [B, m] of the next position."""
        return self._read(self.embedding(tokens[:, None])[:, 0], state)

    def _read(self, vectors: Tensor, state: NeuralGPUState) -> tuple[Tensor, NeuralGPUState]:
        """Put token vectors [B, m] on the tape and take one step.

        Position k reads the output of position k − 1. The start token is read first and is no output: p_0 is empty.
        """
        image, tape, position = state.image, state.tape, state.position
        assert tape is not None
        rows, columns = image.cells.shape[2:]
        if position < rows:
            if position > 0:
                place = torch.zeros(rows, columns, dtype=torch.bool, device=tape.device)
                place[position - 1, 0] = True
                tape = torch.where(place & image.valid, vectors[:, :, None, None], tape)
            image = replace(image, cells=self.steps(position, image.cells, image.valid, tape))
        return image.read(position), NeuralGPUState(image, tape, position + 1)


class NeuralGPU(SequenceToSequence[Image, NeuralGPUState]):
    """The Neural GPU, plain or extended, which differ in the decoder.

    The image of a source of S tokens has n = max(shortest, stretch·S) positions. What is beyond the image of a row has
    the hidden state 0, so that all its outputs have the same probabilities.
    """

    def __init__(
        self,
        *,
        source: Embedding,
        steps: Steps,
        decoder: IndependentDecoder | ActiveMemoryDecoder,
        output: nn.Parameter,
        columns: int,
        stretch: int,
        shortest: int,
        pull: float,
    ) -> None:
        super().__init__()
        self.source, self.steps, self.decoder, self.output = source, steps, decoder, output
        self.bias = nn.Parameter(torch.zeros(len(output)))
        self.columns, self.stretch, self.shortest, self.pull = columns, stretch, shortest, pull

    @classmethod
    def from_settings(cls, settings: NeuralGPUSettings, *, source_vocabulary: int, target_vocabulary: int) -> Self:
        """Turn typed settings into parts, and the parts into a model."""
        width = settings.width
        make_steps = partial(Steps, width, settings.kernel, layers=settings.layers, dropout=settings.dropout)
        decoder: IndependentDecoder | ActiveMemoryDecoder = IndependentDecoder()
        if settings.decoder == "active_memory":
            embedding = Embedding(token_vectors(target_vocabulary, width), None, dropout=0.0)
            decoder = ActiveMemoryDecoder(embedding, make_steps(tape=True))
        return cls(
            source=Embedding(token_vectors(source_vocabulary, width), None, dropout=0.0),
            steps=make_steps(sets=settings.relaxation),
            decoder=decoder,
            output=token_vectors(target_vocabulary, width),
            columns=settings.columns,
            stretch=settings.stretch,
            shortest=settings.shortest,
            pull=settings.pull,
        )

    @property
    def output_vectors(self) -> Tensor:
        """The output layer's weights O [V, m]."""
        return self.output

    @property
    def output_bias(self) -> Tensor:
        """The output layer's bias [V]."""
        return self.bias

    def encode(self, source: Tokens) -> Image:
        """Return s_n of source tokens [B, S]. Each row has an image of its own length and takes as many steps."""
        length = max(self.shortest, self.stretch * source.ids.shape[1])
        lengths = (self.stretch * source.lengths).clamp(min=self.shortest)[:, None, None, None]
        valid = torch.arange(length, device=lengths.device)[:, None] < lengths  # [B, 1, n, 1]
        cells = self._first(source, length)
        for number in range(length):
            cells = self.steps(number, cells, valid & (number < lengths))
        return Image(cells, valid)

    def _first(self, source: Tokens, length: int) -> Tensor:
        """Return s_0 [B, m, n, w]: the embedded source in the first column, zero elsewhere."""
        real = Mask.padding(source.lengths, source.ids.shape[1]).valid
        assert real is not None
        embedded = (self.source(source.ids) * real[:, :, None]).transpose(1, 2)[..., None]  # [B, m, S, 1]
        image = F.pad(embedded, (0, self.columns - 1, 0, length - embedded.shape[2]))
        return image.contiguous(memory_format=torch.channels_last)  # up to a tenth faster on a processor

    def decode(self, target: Tensor, memory: Image) -> Decoded:
        """Return hidden states [B, T, m] of target ids [B, T], and in training the pull of the relaxation."""
        hidden = self.decoder.decode(target, memory)
        if not self.training or len(self.steps.sets) == 1:
            return Decoded(hidden)
        return Decoded(hidden, (self.pull * self.steps.distance()).expand(target.shape))

    def begin(self, context: Image) -> NeuralGPUState:
        """Return the state before the first token."""
        return self.decoder.begin(context)

    def step(self, tokens: Tensor, state: NeuralGPUState) -> tuple[Tensor, NeuralGPUState]:
        """Read one token per row [B]; return the logits [B, V] of the next one and the state after it."""
        hidden, state = self.decoder.step(tokens, state)
        return self.logits(hidden), state

    def multiplications(self, rows: int, source: int, target: int) -> int:
        """Return those of the convolutions, of the encoder's n steps and of the T of an active-memory decoder."""
        length = max(self.shortest, self.stretch * source)
        products = length * self.steps.weights
        if isinstance(self.decoder, ActiveMemoryDecoder):
            products += min(target, length) * self.decoder.steps.weights
        return rows * length * self.columns * products
