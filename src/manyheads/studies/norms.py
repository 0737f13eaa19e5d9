"""Why LayerNorm? Four kinds of normalisation in the same Transformer, on sequences of varied length.

    layer       over the D numbers of one position                  the paper's
    RMS         the same, neither centred nor shifted
    batch       over all real positions of all sequences, for each of the D numbers by itself; after training, by means
                and variances that were averaged over the batches of training
    instance    over the real positions of one sequence, for each of the D numbers by itself

The encoder of the paper learns to sort: the label of position t is the t-th smallest symbol. All models of one batch
size take the same steps on the same batches. The fluctuation of batch statistics is how much the mean of a batch
differs from batch to batch, in standard deviations of what is averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from manyheads.attention.masks import Mask
from manyheads.attention.multi_head import MultiHeadAttention
from manyheads.layers.add_norm import AddNorm
from manyheads.layers.encoder import EncoderLayer
from manyheads.layers.feed_forward import FeedForward
from manyheads.layers.norms import EPSILON, Normalization
from manyheads.studies.conclusion import Conclusion, Curve, Panel, Table, listed
from manyheads.studies.labelling import NO_LABEL, Batch, Labeller, accuracy, learn
from manyheads.studies.statistics import effects, mean_estimate, noise_floor
from manyheads.studies.study import Item, Measured, Record, Study

Kind = Literal["layer", "rms", "batch", "instance"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LEAST_LENGTH, SYMBOLS, WIDTH, HEADS, LAYERS = 2, 16, 32, 4, 2
RATE, MOMENTUM = 0.003, 0.1  # the peak of the rate; the share of a new batch in the statistics of batch normalisation
PROBES = 64  # batches over which statistics fluctuate


@dataclass(frozen=True)
class Training(Item):
    """A kind of normalisation, how many sequences a batch has and how long they are, and how long it learns."""

    kind: Kind
    rows: int
    longest: int
    varied: bool
    steps: int
    seed: int

    @property
    def key(self) -> str:
        """The kind, the batch and the seed."""
        return f"{self.kind}-{self.rows}-{'varied' if self.varied else 'equal'}-{self.seed}"

    @property
    def batch(self) -> str:
        """The batch in words."""
        return f"{self.rows} of {'varied' if self.varied else 'equal'} length"


class Norms(Study[Training]):
    """D9: layer, RMS, batch and instance normalisation."""

    name: ClassVar[str] = "norms"
    question: ClassVar[str] = "Which normalisation suits sequences of varied length, and how steady are its statistics?"
    seconds: ClassVar[float] = 3600.0
    quick_seconds: ClassVar[float] = 60.0

    def items(self, *, quick: bool) -> Sequence[Training]:
        """Return every kind with small and large batches, of equal and of varied lengths, with five seeds."""
        if quick:
            return [Training(kind, 8, 10, True, 200, seed) for kind in KINDS for seed in range(1, 6)]
        return [
            Training(kind, rows, 24, varied, 1500, seed)
            for rows in (2, 8, 32)
            for varied in (False, True)
            for kind in KINDS
            for seed in range(1, 6)
        ]

    def measure(self, item: Training, folder: Path) -> Record:
        """Return how many labels are right, and how the statistics of batches fluctuate in the first norm."""
        torch.manual_seed(item.seed)
        model = Labeller(NormalizedEncoder(item.kind), symbols=SYMBOLS, width=WIDTH, positions=True)
        draw = sequences(item)
        learn(model, draw, steps=item.steps, rate=RATE, seed=item.seed)
        return {"accuracy": accuracy(model, draw, batches=PROBES, seed=0), "fluctuation": fluctuation(model, draw)}

    def conclude(self, measured: Sequence[Measured[Training]]) -> Conclusion:
        """Compare every kind with LayerNorm."""
        batches = list(dict.fromkeys(one.item.batch for one in measured))
        compared = [_Compared(batch, [one for one in measured if one.item.batch == batch]) for batch in batches]
        columns = ("batch", *KINDS, "noise floor", "fluctuation of means")
        return Conclusion(
            _sentences(compared),
            (
                Table("Labels that are right, in percent", columns, tuple(one.row() for one in compared)),
                Table(
                    "Differences from LayerNorm, with p-values after Holm's correction in each batch",
                    ("batch", *KINDS[1:]),
                    tuple(one.differences() for one in compared),
                ),
            ),
            _panels(compared),
            {f"{kind}, {one.batch}": one.mean(kind) for one in compared for kind in KINDS},
        )


# --- Normalisation over sequences ------------------------------------------------------------------------------------


class OverSequences(nn.Module):
    """γ·(x − μ)/√(σ² + ε) + β with the mean and variance of each of the D numbers over positions.

    Positions that are not `real` [B, T] do not count. Over a batch, inference uses statistics averaged in training.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int, *, over_batch: bool) -> None:
        super().__init__()
        self.over_batch = over_batch
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.real: Tensor | None = None

    def forward(self, states: Tensor) -> Tensor:
        """Return [B, T, D] for states [B, T, D]."""
        assert self.real is not None, "the model says what is real before its layers compute"
        if self.over_batch and not self.training:
            mean, variance = self.mean, self.variance
        else:
            mean, variance = statistics(states, self.real, dims=(0, 1) if self.over_batch else (1,))
        if self.over_batch and self.training:
            self._remember(mean.detach(), variance.detach())
        normalised: Tensor = self.weight * (states - mean) * (variance + EPSILON).rsqrt() + self.bias
        return normalised

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """Move the averages towards the statistics [1, 1, D] of a batch."""
        self.mean = self.mean.lerp(mean.flatten(), MOMENTUM)
        self.variance = self.variance.lerp(variance.flatten(), MOMENTUM)


def statistics(states: Tensor, real: Tensor, *, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the mean and variance of states [B, T, D] over the real positions [B, T] in some dimensions, kept as 1."""
    counted = real[..., None].to(states.dtype)
    count = counted.sum(dim=dims, keepdim=True)
    mean = (states * counted).sum(dim=dims, keepdim=True) / count
    return mean, ((states - mean).square() * counted).sum(dim=dims, keepdim=True) / count


class NormalizedEncoder(nn.Module):
    """The encoder's layers with one kind of normalisation."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_layer(kind) for _ in range(LAYERS))

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """Return states [B, T, D], of which those are read that are real [B, T]."""
        for module in self.modules():
            if isinstance(module, OverSequences):
                module.real = real
        for layer in self.layers:
            states = layer(states, Mask(valid=real))
        return states


def _layer(kind: Kind) -> EncoderLayer:
    """Return a layer of the encoder with a kind of normalisation."""
    offered = Normalization(kind="rms") if kind == "rms" else Normalization()
    layer = EncoderLayer(
        MultiHeadAttention(WIDTH, HEADS), FeedForward(WIDTH, 4 * WIDTH), dropout=0.0, normalization=offered
    )
    if kind in ("batch", "instance"):
        for part in layer.children():
            if isinstance(part, AddNorm):
                part.norm = OverSequences(WIDTH, over_batch=kind == "batch")
    return layer


# --- Measurements ----------------------------------------------------------------------------------------------------


def sequences(item: Training) -> Callable[[torch.Generator], Batch]:
    """Return a function that draws sequences with their symbols in order as labels."""

    def draw(generator: torch.Generator) -> Batch:
        """Return random sequences, padded on the right."""
        shape = (item.rows, item.longest)
        symbols = torch.randint(SYMBOLS, shape, generator=generator)
        least = LEAST_LENGTH if item.varied else item.longest
        lengths = torch.randint(least, item.longest + 1, (item.rows, 1), generator=generator)
        real = torch.arange(item.longest) < lengths
        labels = symbols.masked_fill(~real, SYMBOLS).sort(dim=1).values.masked_fill(~real, NO_LABEL)
        return Batch(symbols.masked_fill(~real, 0), real, labels)

    return draw


@torch.no_grad()
def fluctuation(model: Labeller, draw: Callable[[torch.Generator], Batch]) -> float:
    """Return the standard deviation of batch means of what the first norm reads, in units of its own deviation."""
    generator, model = torch.Generator().manual_seed(0), model.eval()
    read: list[Tensor] = []
    first = next(part for part in model.modules() if isinstance(part, AddNorm)).norm
    handle = first.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    batches = [draw(generator) for _ in range(PROBES)]
    for batch in batches:
        model(batch)
    handle.remove()
    found = [statistics(states, batch.real, dims=(0, 1)) for states, batch in zip(read, batches, strict=True)]
    means, variances = (torch.cat(part).flatten(1) for part in zip(*found, strict=True))  # [batches, D]
    return float((means.std(dim=0) / variances.mean(dim=0).sqrt()).mean())


# --- Conclusions -----------------------------------------------------------------------------------------------------


class _Compared:
    """All kinds with one kind of batch."""

    def __init__(self, batch: str, measured: Sequence[Measured[Training]]) -> None:
        self.batch = batch
        self.scores = {kind: [one.record["accuracy"] for one in measured if one.item.kind == kind] for kind in KINDS}
        self.fluctuations = [one.record["fluctuation"] for one in measured if one.item.kind == "batch"]
        self.effects = effects(self.scores["layer"], {kind: self.scores[kind] for kind in KINDS[1:]})

    def mean(self, kind: Kind) -> float:
        """Return the mean over seeds."""
        return mean_estimate(self.scores[kind]).value

    def row(self) -> tuple[str | float, ...]:
        """Return the scores, the noise floor of LayerNorm, and the fluctuation."""
        scores = (str(mean_estimate(self.scores[kind])) for kind in KINDS)
        return self.batch, *scores, noise_floor(self.scores["layer"]), str(mean_estimate(self.fluctuations))

    def differences(self) -> tuple[str, ...]:
        """Return the effects of the other kinds."""
        return self.batch, *(f"{one.difference}, p = {one.p_value:.2g}" for one in self.effects)


def _sentences(compared: Sequence[_Compared]) -> tuple[str, str]:
    """Return what came out, and how certain it is."""
    return (
        " ".join(f"{'; '.join(_verdicts(compared))}.".split()),
        f"A noise floor of {max(noise_floor(one.scores['layer']) for one in compared):.2g} points at most was measured "
        f"with {len(compared[0].scores['layer'])} seeds; differences are significant at 5 % after Holm's correction.",
    )


def _verdicts(compared: Sequence[_Compared]) -> Iterator[str]:
    """Yield which kinds differ from LayerNorm, for every kind of batch."""
    for one in compared:
        worse, better = (
            listed([same.variant for same in one.effects if same.is_significant and same.difference.value * sign > 0])
            for sign in (-1, 1)
        )
        parts = [f"{kinds} {verb} LayerNorm" for kinds, verb in ((worse, "below"), (better, "above")) if kinds]
        yield f"With batches of {one.batch}, {' and '.join(parts) or 'no kind differs from LayerNorm'}"


def _panels(compared: Sequence[_Compared]) -> tuple[Panel, ...]:
    """Return accuracy by size of the batch, for equal and for varied lengths."""
    panels = []
    for lengths in ("equal", "varied"):
        chosen = [one for one in compared if lengths in one.batch]
        if chosen:
            sizes = tuple(float(one.batch.split()[0]) for one in chosen)
            panels.append(
                Panel(
                    f"sequences of {lengths} length",
                    "sequences in a batch",
                    "% right",
                    tuple(_curve(kind, sizes, chosen) for kind in KINDS),
                    log_x=True,
                )
            )
    return tuple(panels)


def _curve(kind: Kind, sizes: tuple[float, ...], compared: Sequence[_Compared]) -> Curve:
    """Return the accuracy of one kind by size of the batch."""
    found = [mean_estimate(one.scores[kind]) for one in compared]
    middle, low, high = (tuple(getattr(one, name) for one in found) for name in ("value", "low", "high"))
    return Curve(kind, sizes, middle, low, high)
