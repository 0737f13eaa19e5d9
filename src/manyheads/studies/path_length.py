"""How far apart are two positions, and how many operations wait for one another? The rest of the paper's table 1.

    self-attention                  path O(1)            sequential O(1)
    recurrent                       path O(n)            sequential O(n)
    window of w                     path O(n/w)          sequential O(n/w)
    convolution of k                path O(n/k)          sequential O(n/k)
    dilated convolutions            path O(log_k n)      sequential O(log_k n)

Nothing is taken from a formula. A real model, which reads positions from left to right, is made deeper until the
gradient of its last output with respect to the embedding of its first position is not zero. An operation of that model
is a layer, or a recurrent cell at one position; which one uses the results of which, at which positions, is read from
autograd's graph. The shortest way between the two ends, in operations, is the path, and the longest way of all is the
number of sequential operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from manyheads.config.models.bytenet import ByteNetSettings
from manyheads.config.models.conv_s2s import ConvS2SSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.layers.cells import Cell
from manyheads.models.bytenet import ByteNet
from manyheads.models.conv_s2s import ConvS2S
from manyheads.models.interface import Tokens
from manyheads.models.language_model import TransformerLanguageModel
from manyheads.models.recurrent import Recurrent
from manyheads.studies.conclusion import Cell as TableCell
from manyheads.studies.conclusion import Conclusion, Curve, Panel, Table, listed
from manyheads.studies.graph import Graph, Ways
from manyheads.studies.study import Item, Measured, Record, Study

Kind = Literal["self-attention", "recurrent", "window", "convolution", "dilated convolutions"]
KINDS: dict[Kind, str] = {
    "self-attention": "O(1)",
    "recurrent": "O(n)",
    "window": "O(n/w)",
    "convolution": "O(n/k)",
    "dilated convolutions": "O(log n)",
}
"""The kinds of layers, with what the paper says about the path."""
REACH = 4
"""w, and k − 1: how many positions a layer moves a signal."""
VOCABULARY, WIDTH = 8, 32
LARGEST = 4096  # dilation: until then they double
SEEDS = (1, 2, 3)
SOURCE = Tokens(torch.tensor([[3]]), torch.tensor([1]))  # models that read one sequence to write another need one


@dataclass(frozen=True)
class Ends(Item):
    """The two ends of a sequence in a model with one kind of layers."""

    kind: Kind
    length: int

    @property
    def key(self) -> str:
        """The kind with the length."""
        return f"{self.kind.replace(' ', '-')}-{self.length}"


class PathLength(Study[Ends]):
    """D2: sequential operations, and the path between two positions."""

    name: ClassVar[str] = "path-length"
    question: ClassVar[str] = "How far apart are the ends of a sequence, and how many operations wait for one another?"
    seconds: ClassVar[float] = 60.0
    quick_seconds: ClassVar[float] = 15.0

    def items(self, *, quick: bool) -> Sequence[Ends]:
        """Return every kind with lengths that double."""
        return [Ends(kind, 2**power) for kind in KINDS for power in range(3, 7 if quick else 9)]

    def measure(self, item: Ends, folder: Path) -> Record:
        """Return the fewest layers that connect the ends, the path and the sequential operations, for several draws."""
        found = [connected(item, seed) for seed in SEEDS]
        return {name: [getattr(one, name) for one in found] for name in Found._fields}

    def conclude(self, measured: Sequence[Measured[Ends]]) -> Conclusion:
        """Tell how the numbers grow."""
        growths = {kind: Growth.of([one for one in measured if one.item.kind == kind]) for kind in KINDS}
        lengths = sorted({one.item.length for one in measured})
        rows: tuple[tuple[TableCell, ...], ...] = tuple(
            (kind, KINDS[kind], found.shown, *found.paths, found.sequential[-1]) for kind, found in growths.items()
        )
        columns = ("layers", "theory", "measured path", *(f"n = {length}" for length in lengths))
        same = all(len(set(values)) == 1 for one in measured for values in one.record.values())
        return Conclusion(
            (
                "The path between the ends of a sequence grows as "
                + listed([f"{found.shown} with {kind}" for kind, found in growths.items()])
                + f", where a layer reaches {REACH} positions back if it does not reach all.",
                f"These are counts, {'the same' if same else 'but not the same'} for {len(SEEDS)} draws of the weights "
                f"at every length up to {lengths[-1]}; of the growths, the named one fits best.",
            ),
            (Table("The path from the last output to the first position", (*columns, "sequential"), rows),),
            (
                _panel("path", [found.curve(kind, found.paths) for kind, found in growths.items()]),
                _panel(
                    "sequential operations", [found.curve(kind, found.sequential) for kind, found in growths.items()]
                ),
            ),
            {f"{kind}, per {found.unit}": found.slope for kind, found in growths.items()},
        )


# --- Models ----------------------------------------------------------------------------------------------------------

AnyModel = TransformerLanguageModel | Recurrent | ConvS2S | ByteNet


def built(kind: Kind, *, length: int, layers: int) -> AnyModel:
    """Return a model with this number of layers of a kind."""
    sizes = {"width": WIDTH, "dropout": 0.0}
    vocabularies = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
    stack = {"encoder_layers": 1, "decoder_layers": layers}
    match kind:
        case "recurrent":
            cells = RecurrentSettings(**sizes, **stack, fused=False, bidirectional=False, source_attention="none")
            return Recurrent.from_settings(cells, **vocabularies)
        case "convolution":
            convolutions = ConvS2SSettings(**sizes, **stack, decoder_kernel=REACH + 1, maximum_positions=length)
            return ConvS2S.from_settings(convolutions, **vocabularies)
        case "dilated convolutions":
            dilated = ByteNetSettings(**sizes, **stack, decoder_kernel=REACH + 1, largest_dilation=LARGEST)
            return ByteNet.from_settings(dilated, **vocabularies)
    attention = {"kind": "window", "window": REACH} if kind == "window" else {"kind": "dot_product"}
    settings = LanguageModelSettings(**sizes, heads=2, feed_forward=WIDTH, layers=layers, attention=attention)
    return TransformerLanguageModel.from_settings(settings, vocabulary=VOCABULARY)


def layers_of(model: AnyModel) -> Iterable[nn.Module]:
    """Return the layers through which a signal moves from left to right."""
    match model:
        case TransformerLanguageModel():
            return model.layers
        case ConvS2S():
            return model.decoder.layers
    return model.decoder


def last_output(model: AnyModel, ids: Tensor) -> Tensor:
    """Return what a model makes of the last of token ids [1, n], [D]."""
    if isinstance(model, TransformerLanguageModel):
        return model.decode(ids).hidden[0, -1]
    return model.decode(ids, model.encode(SOURCE)).hidden[0, -1]  # type: ignore[arg-type]


def embedding_of(model: AnyModel) -> nn.Module:
    """Return the embedding of what is read from left to right."""
    return model.embedding if isinstance(model, TransformerLanguageModel) else model.target


# --- Measurements ----------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """The fewest layers that connect the ends, the path between them in layers at positions, and what must wait."""

    layers: int
    path: int
    sequential: int


def connected(item: Ends, seed: int) -> Found:
    """Return what is found in the shallowest model whose last output depends on its first position."""
    deep = 1
    while not is_connected(item, deep, seed):
        deep *= 2
    low, high = deep // 2, deep  # too shallow, or no layer at all; and deep enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_connected(item, middle, seed) else (middle, high)
    found = _ways(item, high, seed)
    assert found.shortest is not None
    return Found(high, found.shortest, found.longest)


def is_connected(item: Ends, layers: int, seed: int) -> bool:
    """Whether any gradient gets from one end to the other in a model of some depth."""
    model, ids = _prepared(item, layers, seed)
    embedded: list[Tensor] = []
    embedding_of(model).register_forward_hook(lambda _, __, output: embedded.append(output))
    output = last_output(model, ids)
    direction = torch.randn_like(output)  # the sum behind a LayerNorm is always the same
    (gradient,) = torch.autograd.grad(output @ direction, embedded[0])
    return bool(gradient[0, 0].any())


def _ways(item: Ends, layers: int, seed: int) -> Ways:
    """Return the ways between the ends in a model of some depth."""
    model, ids = _prepared(item, layers, seed)
    graph = Graph()
    graph.cut(embedding_of(model))
    for layer in layers_of(model):
        if isinstance(layer, Cell):
            graph.cut_cell(layer)
        else:
            graph.cut(layer)
    return graph.ways(last_output(model, ids))


def _prepared(item: Ends, layers: int, seed: int) -> tuple[AnyModel, Tensor]:
    """Return a model with random weights, and random token ids [1, n]."""
    torch.manual_seed(seed)
    model = built(item.kind, length=item.length, layers=layers).double()  # many small factors vanish in float32
    return model, torch.randint(4, VOCABULARY, (1, item.length))


# --- Conclusions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """How a path grows with the length: as a constant, its logarithm or the length itself."""

    lengths: tuple[int, ...]
    paths: tuple[int, ...]
    sequential: tuple[int, ...]
    unit: Literal["1", "log n", "n"]
    slope: float
    """What is added for each position, or for each doubling of the length."""

    @classmethod
    def of(cls, measured: Sequence[Measured[Ends]]) -> Growth:
        """Fit what was measured of one kind; of several growths, the one that leaves least is taken."""
        lengths = tuple(one.item.length for one in measured)
        paths, sequential = (tuple(max(one.record[name]) for one in measured) for name in ("path", "sequential"))
        if len(set(paths)) == 1:
            return cls(lengths, paths, sequential, "1", 0.0)
        fits = {"log n": _line(np.log2(lengths), paths), "n": _line(lengths, paths)}
        unit, (slope, _) = min(fits.items(), key=lambda fit: fit[1][1])
        return cls(lengths, paths, sequential, cast(Literal["log n", "n"], unit), slope)

    @property
    def shown(self) -> str:
        """The growth as text, such as O(n/4)."""
        if self.unit == "n" and self.slope < 0.9:
            return f"O(n/{1 / self.slope:.1f})".replace(".0", "")
        return f"O({self.unit})"

    def curve(self, kind: str, values: Sequence[int]) -> Curve:
        """Return the line of one of the numbers."""
        return Curve(kind, tuple(map(float, self.lengths)), tuple(map(float, values)))


def _panel(title: str, curves: Iterable[Curve]) -> Panel:
    """Return a panel of counts by length."""
    return Panel(title, "n", "operations", tuple(curves), log_x=True, log_y=True)


def _line(x: Sequence[float] | NDArray[np.float64], y: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the line through points by least squares, and the sum of squares that it leaves."""
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    slope, start = np.polyfit(at, values, 1)
    return float(slope), float(((at * slope + start - values) ** 2).sum())
