"""What does a layer cost, and where do the costs cross? Table 1 of the paper, measured.

    self-attention       O(n²·d)      every position with every other
    window of w          O(n·w·d)     every position with its neighbours
    recurrent            O(n·d²)      a product of a matrix and the state, position after position
    convolution of k     O(k·n·d²)    k such products, for all positions at once

The operation is measured alone: attention without its projections, and a cell or a convolution without what is around
it. FLOPs of matrix products are counted while the operation runs on shapes without memory; time is the shortest of
several runs by the processor's clock; memory is what the forward pass keeps for the backward pass. An exponent is the
slope of a line through the logarithms.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from manyheads.attention.dot_product import DotProductAttention
from manyheads.attention.masks import EVERYTHING
from manyheads.attention.mechanism import Mechanism
from manyheads.attention.window import WindowAttention
from manyheads.layers.convolution import Kernel
from manyheads.layers.recurrence import AnyCell, make_cell, read
from manyheads.studies.conclusion import Cell, Conclusion, Curve, Panel, Table, listed
from manyheads.studies.statistics import Estimate, Floats, bootstrapped, fitted_exponent
from manyheads.studies.study import Item, Measured, Record, Study
from manyheads.training.costs import weigh_activations

Kind = Literal["self-attention", "window", "recurrent", "convolution"]

WINDOW, KERNEL = 64, 3
THEORY: dict[Kind, tuple[str, int, int]] = {
    "self-attention": ("n²·d", 2, 1),
    "window": ("n·w·d", 1, 1),
    "recurrent": ("n·d²", 1, 2),
    "convolution": ("k·n·d²", 1, 2),
}
"""The cost of each operation, and its exponents of n and d."""
LONG = 2000
"""The least n of the exponents: below it, fixed costs and caches bend the lines."""


@dataclass(frozen=True)
class Operation(Item):
    """An operation over n positions of width d, and how often its time is measured."""

    kind: Kind
    length: int
    width: int
    repeats: int

    @property
    def key(self) -> str:
        """The operation with its sizes."""
        return f"{self.kind}-{self.length}-{self.width}"


class Complexity(Study[Operation]):
    """D1: cost per layer."""

    name: ClassVar[str] = "complexity"
    question: ClassVar[str] = "What does a layer cost, and where do the costs of two kinds cross on this machine?"
    seconds: ClassVar[float] = 240.0
    quick_seconds: ClassVar[float] = 20.0

    def items(self, *, quick: bool) -> Sequence[Operation]:
        """Return operations of growing length with one width, and of growing width with one length."""
        if quick:
            return grid(lengths=(64, 256, 1024, 2048, 4096), widths=(64, 128), repeats=3)
        return grid(lengths=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192), widths=(256, 512, 1024), repeats=7)

    def measure(self, item: Operation, folder: Path) -> Record:
        """Return FLOPs, seconds and the bytes that are kept for the backward pass."""
        return {
            "flops": counted_flops(item),
            "bytes": kept_bytes(item),
            "seconds": timed(item),
        }

    def conclude(self, measured: Sequence[Measured[Operation]]) -> Conclusion:
        """Fit exponents, and find where the times cross."""
        costs = [_Costs(kind, measured) for kind in THEORY]
        attention = costs[0]
        crossings = [_Crossing(attention, other) for other in costs[1:]]
        return Conclusion(
            _sentences(costs, crossings),
            (
                Table("Exponents of n and d", EXPONENT_COLUMNS, tuple(one.exponents() for one in costs)),
                Table(f"Milliseconds at d = {attention.width:,}", *_times(costs)),
                Table("Where self-attention becomes the slower one", *_crossing_rows(crossings, attention.width)),
            ),
            _panels(costs),
            {f"{one.kind} {name}": value for one in costs for name, value in one.counted().items()},
        )


EXPONENT_COLUMNS = ("operation", "theory", "FLOPs, n", "FLOPs, d", "time, n", "time, d", "memory, n")


def grid(*, lengths: Iterable[int], widths: Sequence[int], repeats: int) -> list[Operation]:
    """Return every operation at every length with the first width, and at the first long length with every width."""
    lengths = tuple(lengths)
    long = next(length for length in lengths if length >= LONG)
    sizes = [*((length, widths[0]) for length in lengths), *((long, width) for width in widths[1:])]
    return [Operation(kind, length, width, repeats) for kind in THEORY for length, width in sizes]


# --- Measurements ----------------------------------------------------------------------------------------------------


class Alone(nn.Module):
    """An operation on one sequence [1, n, d], as a module."""

    def __init__(self, item: Operation, *, fused: bool) -> None:
        super().__init__()
        self.part = _part(item, fused=fused)
        if item.kind == "convolution":
            self.weight = nn.Parameter(torch.randn(item.width, KERNEL, item.width) * item.width**-0.5)
            self.bias = nn.Parameter(torch.zeros(item.width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return [1, n, d] for inputs [1, n, d]."""
        match self.part:
            case Mechanism() as mechanism:
                heads = inputs[:, None]  # one head
                return mechanism(heads, heads, heads, EVERYTHING)[:, 0]  # type: ignore[no-any-return]
            case Kernel() as kernel:
                return kernel.centred(inputs, self.weight, self.bias)
            case cell:
                return read(cell, inputs)[0]


def _part(item: Operation, *, fused: bool) -> Mechanism | Kernel | AnyCell:
    """Return what the operation is made of."""
    match item.kind:
        case "self-attention":
            return DotProductAttention()
        case "window":
            return WindowAttention(window=WINDOW)
        case "convolution":
            return Kernel(KERNEL)
        case "recurrent":
            return make_cell("lstm", item.width, item.width, fused=fused)


def counted_flops(item: Operation) -> int:
    """Return the FLOPs of the matrix products of a forward pass, counted on shapes alone.

    A fused cell hides its products, so that the cell is the one that is written out.
    """
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        Alone(item, fused=False)(torch.empty(1, item.length, item.width))
    return int(counter.get_total_flops())


def kept_bytes(item: Operation) -> int:
    """Return the bytes that a forward pass keeps for the backward pass, besides weights."""
    torch.manual_seed(1)
    model = Alone(item, fused=True)
    inputs = torch.randn(1, item.length, item.width, requires_grad=True)
    with weigh_activations(model) as weight:
        model(inputs)
    return weight[0]


def timed(item: Operation) -> list[float]:
    """Return the processor's seconds in several forward passes, after one that is not measured.

    With one thread, they are those of the clock on a machine that does nothing else.
    """
    torch.manual_seed(1)
    model, inputs = Alone(item, fused=True), torch.randn(1, item.length, item.width)
    seconds = []
    with torch.inference_mode():
        for _ in range(1 + item.repeats):
            begin = time.thread_time()
            model(inputs)
            seconds.append(time.thread_time() - begin)
    return seconds[1:]


# --- Conclusions -----------------------------------------------------------------------------------------------------


class _Costs:
    """The costs of one kind of operation, by length at the first width and by width at the first long length."""

    def __init__(self, kind: Kind, measured: Sequence[Measured[Operation]]) -> None:
        self.kind = kind
        mine = [one for one in measured if one.item.kind == kind]
        self.width = mine[0].item.width
        self.by_length = [one for one in mine if one.item.width == self.width]
        self.long = [one for one in self.by_length if one.item.length >= LONG]
        self.by_width = [one for one in mine if one.item.length == self.long[0].item.length]

    def exponents(self) -> tuple[Cell, ...]:
        """Return the row of the table of exponents."""
        return (
            self.kind,
            THEORY[self.kind][0],
            *(round(value, 3) for value in self.counted().values()),
            str(self.of_time()),
            str(_time_exponent(_widths(self.by_width), self.by_width)),
            round(fitted_exponent(_lengths(self.long), [one.record["bytes"] for one in self.long]), 3),
        )

    def counted(self) -> dict[str, float]:
        """Return the exponents of the FLOPs."""
        return {
            "n": fitted_exponent(_lengths(self.long), [one.record["flops"] for one in self.long]),
            "d": fitted_exponent(_widths(self.by_width), [one.record["flops"] for one in self.by_width]),
        }

    def of_time(self) -> Estimate:
        """Return the exponent of n for the time."""
        return _time_exponent(_lengths(self.long), self.long)


class _Crossing:
    """The length from which on self-attention is slower than another operation, at one width."""

    def __init__(self, attention: _Costs, other: _Costs) -> None:
        self.kind = other.kind
        self.lengths = _lengths(attention.by_length)
        pairs = list(zip(attention.by_length, other.by_length, strict=True))
        self.by_flops = crossing(self.lengths, [_ratio(pair, lambda one: one.record["flops"]) for pair in pairs])
        repeats = np.array([[one.record["seconds"] for one in pair] for pair in pairs])  # [n, 2, repeats]
        found = crossing(self.lengths, [_ratio(pair, lambda one: min(one.record["seconds"])) for pair in pairs])
        self.by_time: Estimate | None = None
        if found is not None:
            spread = bootstrapped(lambda drawn: _crossing_of(self.lengths, drawn), np.moveaxis(repeats, 2, 0))
            self.by_time = Estimate(found, min(found, spread.low), max(found, spread.high))

    def shown(self, length: Estimate | float | None) -> str:
        """Return a crossing as text."""
        if length is None:
            return f"not between {self.lengths[0]:,} and {self.lengths[-1]:,}"
        if isinstance(length, Estimate):
            return f"{length.value:,.0f} [{length.low:,.0f}, {length.high:,.0f}]"
        return f"{length:,.0f}"


def crossing(lengths: Sequence[int], ratios: Sequence[float]) -> float | None:
    """Return the last length at which a ratio rises through 1, between two measured ones; None if it never does."""
    for index in reversed(range(1, len(ratios))):
        before, after = (math.log(ratio) for ratio in ratios[index - 1 : index + 1])
        if before <= 0.0 < after:
            low, high = (math.log(length) for length in lengths[index - 1 : index + 1])
            return math.exp(low + (high - low) * -before / (after - before))
    return None


def _crossing_of(lengths: Sequence[int], drawn: Floats) -> float:
    """Return the crossing of drawn repetitions [repeats, n, 2], each length with its fastest ones; NaN for none."""
    seconds = drawn.min(axis=0)
    found = crossing(lengths, (seconds[:, 0] / seconds[:, 1]).tolist())
    return math.nan if found is None else found


def _time_exponent(sizes: Sequence[int], measured: Sequence[Measured[Operation]]) -> Estimate:
    """Return the exponent of time for growing sizes, with its interval over the repetitions."""
    repeats = np.array([one.record["seconds"] for one in measured]).T  # [repeats, sizes]
    return bootstrapped(lambda drawn: fitted_exponent(sizes, drawn.min(axis=0)), repeats)


def _ratio(pair: tuple[Measured[Operation], ...], value: Callable[[Measured[Operation]], float]) -> float:
    """Return what one operation costs in units of another."""
    return value(pair[0]) / value(pair[1])


def _lengths(measured: Iterable[Measured[Operation]]) -> list[int]:
    """Return the lengths of operations."""
    return [one.item.length for one in measured]


def _widths(measured: Iterable[Measured[Operation]]) -> list[int]:
    """Return the widths of operations."""
    return [one.item.width for one in measured]


def _seconds(measured: Iterable[Measured[Operation]]) -> list[float]:
    """Return the shortest time of each operation."""
    return [min(one.record["seconds"]) for one in measured]


def _times(costs: Sequence[_Costs]) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Return columns and rows: a length, and the time of each operation."""
    rows = zip(_lengths(costs[0].by_length), *(_seconds(one.by_length) for one in costs), strict=True)
    return ("n", *THEORY), tuple((length, *(1000 * one for one in seconds)) for length, *seconds in rows)


def _crossing_rows(crossings: Sequence[_Crossing], width: int) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Return columns and rows: the lengths at which self-attention crosses each other operation."""
    rows = tuple((one.kind, one.shown(one.by_flops), one.shown(one.by_time)) for one in crossings)
    return (f"slower than, at d = {width}", "n, by FLOPs", "n, by time"), rows


def _sentences(costs: Sequence[_Costs], crossings: Sequence[_Crossing]) -> tuple[str, str]:
    """Return what came out, and how certain it is."""
    furthest = max(
        abs(value - wanted)
        for one in costs
        for value, wanted in zip(one.counted().values(), THEORY[one.kind][1:], strict=True)
    )
    crossed = listed([f"the {one.kind} layer at n = {one.shown(one.by_time)}" for one in crossings if one.by_time])
    never = listed([f"the {one.kind} layer" for one in crossings if not one.by_time])
    parts = [f"becomes slower than {crossed}"] if crossed else []
    parts += [f"does not cross {never} in the lengths that were measured"] if never else []
    time_exponents = listed([f"{one.of_time()} for {one.kind}" for one in costs])
    return (
        f"At width {costs[0].width}, self-attention {' and '.join(parts)}.",
        f"Counted FLOPs have the exponents of theory within {furthest:.3f}; with n, time grows by the exponents "
        f"{time_exponents} (95 % intervals of a bootstrap over the repetitions).",
    )


def _panels(costs: Sequence[_Costs]) -> tuple[Panel, ...]:
    """Return time by length, time by width, and memory by length."""
    width, length = costs[0].width, costs[0].long[0].item.length
    by_length = [(one.kind, _lengths(one.by_length), _seconds(one.by_length)) for one in costs]
    by_width = [(one.kind, _widths(one.by_width), _seconds(one.by_width)) for one in costs]
    kept = [(one.kind, _lengths(one.by_length), [same.record["bytes"] for same in one.by_length]) for one in costs]
    return (
        _panel(f"time at d = {width}", "n", "seconds", by_length),
        _panel(f"time at n = {length}", "d", "seconds", by_width),
        _panel(f"kept for the backward pass at d = {width}", "n", "bytes", kept),
    )


def _panel(title: str, x: str, y: str, lines: Iterable[tuple[str, Sequence[float], Sequence[float]]]) -> Panel:
    """Return a panel with a line for each operation."""
    curves = tuple(Curve(kind, tuple(map(float, sizes)), tuple(map(float, values))) for kind, sizes, values in lines)
    return Panel(title, x, y, curves, log_x=True, log_y=True)
