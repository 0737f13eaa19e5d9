"""Do gradients vanish with distance? The norm of ∂output_t / ∂input_(t−k) against k.

    RNN           ∂h_t/∂h_(t−k) is a product of k Jacobians diag(1 − h²)·W_h: it shrinks where W_h is small, and grows
                  where it is large, as a power of k
    LSTM, GRU     gates keep a part of the state as it is
    Transformer   any position is one layer away; residual connections, the scale 1/√d_k and LayerNorm keep what passes

All models read from left to right, and learn to say what the symbol was a fixed lag ago. The norm is that of the whole
matrix, divided by √D, at the last position of sequences that the model was not trained on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.encoder import EncoderLayer
from manyheads.layers.feed_forward import FeedForward
from manyheads.layers.recurrence import CellKind, make_cell, read
from manyheads.studies.conclusion import Conclusion, Curve, Panel, Table, listed
from manyheads.studies.labelling import NO_LABEL, Batch, Labeller, accuracy, learn
from manyheads.studies.parts import Part, remove
from manyheads.studies.statistics import Estimate, mean_estimate
from manyheads.studies.study import Item, Measured, Record, Study

Kind = Literal[
    "RNN, small weights",
    "RNN, unit weights",
    "RNN, large weights",
    "LSTM",
    "GRU",
    "Transformer",
    "without residuals",
    "without scale",
    "without LayerNorm",
]
RECURRENT: dict[Kind, tuple[CellKind, float]] = {
    "RNN, small weights": ("rnn", 0.7),
    "RNN, unit weights": ("rnn", 1.0),
    "RNN, large weights": ("rnn", 3.0),
    "LSTM": ("lstm", 1.0),
    "GRU": ("gru", 1.0),
}
"""The cell, and what its initial recurrent matrix is multiplied by."""
WITHOUT: dict[Kind, Part] = {
    "without residuals": "residuals",
    "without scale": "scale",
    "without LayerNorm": "LayerNorm",
}
KINDS: tuple[Kind, ...] = get_args(Kind)

SYMBOLS, WIDTH, HEADS, LAYERS = 8, 32, 4, 2
ROWS, RATE, PROBED = 32, 0.003, 8  # sequences in a batch; the peak of the rate; sequences whose gradients are measured


@dataclass(frozen=True)
class Training(Item):
    """A model, the length that it reads, the lag, and how long it learns."""

    kind: Kind
    length: int
    lag: int
    steps: int
    seed: int

    @property
    def key(self) -> str:
        """The kind and the seed."""
        return f"{self.kind.replace(',', '').replace(' ', '-')}-{self.seed}"


class Gradients(Study[Training]):
    """D3: vanishing and exploding gradients."""

    name: ClassVar[str] = "gradients"
    question: ClassVar[str] = "Do gradients vanish with the distance between two positions?"
    seconds: ClassVar[float] = 3600.0
    quick_seconds: ClassVar[float] = 60.0

    def items(self, *, quick: bool) -> Sequence[Training]:
        """Return every kind with several seeds."""
        if quick:
            return [Training(kind, 24, 6, 100, seed) for kind in KINDS for seed in (1, 2)]
        return [Training(kind, 100, 20, 2000, seed) for kind in KINDS for seed in range(1, 6)]

    def measure(self, item: Training, folder: Path) -> Record:
        """Return the norms by distance before and after training, and how often the trained model is right."""
        torch.manual_seed(item.seed)
        model = Labeller(_body(item.kind), symbols=SYMBOLS, width=WIDTH, positions=item.kind not in RECURRENT)
        draw = _echoes(item)
        before = norms(model, draw)
        learn(model, draw, steps=item.steps, rate=RATE, seed=item.seed)
        return {
            "before": before,
            "after": norms(model, draw),
            "accuracy": accuracy(model, draw, batches=8, seed=0),
        }

    def conclude(self, measured: Sequence[Measured[Training]]) -> Conclusion:
        """Compare how the norms fall."""
        found = [_Norms([one for one in measured if one.item.kind == kind]) for kind in KINDS]
        last = measured[0].item.length - 1
        columns = ("model", f"k = {last}, at first", "per step, at first", f"k = {last}, trained", "per step, trained")
        rows = tuple(
            (
                one.kind,
                one.at_end("before"),
                str(one.factor("before")),
                one.at_end("after"),
                str(one.factor("after")),
                str(one.accuracy),
            )
            for one in found
        )
        return Conclusion(
            _sentences(found, len(measured) // len(KINDS)),
            (
                Table(
                    "Norm of ∂output_t / ∂input_(t−k), and what it is multiplied by for each step",
                    (*columns, "% right"),
                    rows,
                ),
            ),
            tuple(
                Panel(title, "k", "norm", tuple(one.curve(when) for one in found), log_y=True)
                for title, when in (("before training", "before"), ("after training", "after"))
            ),
            {f"{one.kind} per step": one.factor("before").value for one in found},
        )


# --- Models ----------------------------------------------------------------------------------------------------------


class Recurrence(nn.Module):
    """A recurrent cell that reads from left to right."""

    def __init__(self, kind: CellKind, gain: float) -> None:
        super().__init__()
        self.cell = make_cell(kind, WIDTH, WIDTH, fused=True)
        with torch.no_grad():
            dict(self.cell.named_parameters())["weight_hh_l0"].mul_(gain)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """Return states [B, T, D]; all positions are real."""
        return read(self.cell, states)[0]


class Attention(nn.Module):
    """Layers of the encoder, whose positions see those before them."""

    def __init__(self, layers: Sequence[EncoderLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """Return states [B, T, D]; all positions are real."""
        for layer in self.layers:
            states = layer(states, Mask(causal=True))
        return states


def _body(kind: Kind) -> nn.Module:
    """Return the layers of a model."""
    if kind in RECURRENT:
        return Recurrence(*RECURRENT[kind])
    layers = Attention([_layer() for _ in range(LAYERS)])
    if kind in WITHOUT:
        remove(WITHOUT[kind], layers)
    return layers


def _layer() -> EncoderLayer:
    """Return a layer of the encoder."""
    return EncoderLayer(MultiHeadAttention(WIDTH, HEADS), FeedForward(WIDTH, 4 * WIDTH), dropout=0.0)


# --- Measurements ----------------------------------------------------------------------------------------------------


def _echoes(item: Training) -> Callable[[torch.Generator], Batch]:
    """Return a function that draws sequences whose label is the symbol a lag ago."""

    def draw(generator: torch.Generator) -> Batch:
        """Return random sequences."""
        symbols = torch.randint(SYMBOLS, (ROWS, item.length), generator=generator)
        labels = torch.full_like(symbols, NO_LABEL)
        labels[:, item.lag :] = symbols[:, : -item.lag]
        return Batch(symbols, torch.ones_like(symbols, dtype=torch.bool), labels)

    return draw


def norms(model: Labeller, draw: Callable[[torch.Generator], Batch]) -> list[float]:
    """Return ‖∂output_t / ∂input_(t−k)‖ / √D for every k, at the last position t: a mean over sequences.

    Powers of small numbers need float64, and the mean is that of the logarithms.
    """
    symbols = draw(torch.Generator().manual_seed(0)).symbols[:PROBED]
    model.double()
    embedded = model.embedding(symbols).detach().requires_grad_()
    output = model.body(embedded, torch.ones_like(symbols, dtype=torch.bool))[:, -1].sum(dim=0)  # [D]
    squares = torch.zeros(embedded.shape[:2], dtype=torch.float64)
    for number in range(WIDTH):
        (gradient,) = torch.autograd.grad(output[number], embedded, retain_graph=True)
        squares += gradient.square().sum(dim=-1)
    model.float()
    found: list[float] = (0.5 * (squares / WIDTH).log()).mean(dim=0).exp().flip(0).tolist()
    return found


# --- Conclusions -----------------------------------------------------------------------------------------------------


class _Norms:
    """The norms of one kind of model by distance, one row for each seed."""

    def __init__(self, measured: Sequence[Measured[Training]]) -> None:
        self.kind = measured[0].item.kind
        self._records = [one.record for one in measured]

    def at_end(self, when: str) -> str:
        """Return the norm at the largest distance, a geometric mean over seeds."""
        return f"{math.exp(np.mean([math.log(record[when][-1]) for record in self._records])):.1e}"

    def factor(self, when: str) -> Estimate:
        """Return what a step multiplies the norm by, from the first to the largest distance."""
        return mean_estimate([(one[when][-1] / one[when][1]) ** (1 / (len(one[when]) - 2)) for one in self._records])

    @property
    def accuracy(self) -> Estimate:
        """How often the trained models are right, in percent."""
        return mean_estimate([record["accuracy"] for record in self._records])

    def curve(self, when: str) -> Curve:
        """Return the norms as a line, with those of the least and the greatest seed."""
        rows = np.log([record[when] for record in self._records])
        middle, low, high = (np.exp(of(rows, axis=0)).tolist() for of in (np.mean, np.min, np.max))
        distances = tuple(float(distance) for distance in range(len(middle)))
        return Curve(self.kind, distances, tuple(middle), tuple(low), tuple(high))


def _sentences(found: Sequence[_Norms], seeds: int) -> tuple[str, str]:
    """Return what came out, and how certain it is."""
    factors = {one.kind: one.factor("before") for one in found}
    learned = [one.kind for one in found if one.accuracy.low > 50.0]
    return (
        "Before training, a step back multiplies the gradient by "
        f"{factors['RNN, small weights']} in an RNN with small weights, {factors['RNN, unit weights']} with unit and "
        f"{factors['RNN, large weights']} with large ones, {factors['LSTM']} in an LSTM, {factors['GRU']} in a GRU and "
        f"{factors['Transformer']} in a Transformer.",
        f"The intervals are 95 % of a bootstrap over {seeds} seeds; more than half of the labels, at equal steps, are "
        f"learned by {listed(learned) or 'none'}.",
    )
