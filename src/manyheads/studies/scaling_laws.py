"""What the runs of the study `scaling` say: fitted laws beside published ones, the frontier, and the larger run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from manyheads.studies.conclusion import Cell, Conclusion, Curve, Panel, Table
from manyheads.studies.power_laws import EXPONENTIAL, JOINT, POWER, SEPARATE, Fit, Floats, fit
from manyheads.studies.statistics import LEAST_SEEDS, Estimate, noise_floor
from manyheads.studies.study import Measured

BUDGETS = 6  # FLOPs at which the best size is asked for
BLEU_DELTA = 0.1  # residuals of log BLEU beyond it count by their size
LEAST_BLEU = 1.0  # below it, the logarithm is chance
KAPLAN, CHINCHILLA = "Kaplan et al. 2020", "Hoffmann et al. 2022, fitted again by Besiroglu et al. 2024"
GORDON = "Gordon et al. 2021, fitted again from their data"


@dataclass(frozen=True)
class Run:
    """A run: its sizes, its best loss, the loss of its best model so far by FLOPs, and its BLEU."""

    width: int
    size: float
    pairs: float
    curve: tuple[tuple[float, float], ...]
    bleu: float

    @classmethod
    def of(cls, measured: Measured[Any]) -> Run:
        """Return the run of an item."""
        item, record = measured.item, measured.record
        steps, losses = zip(*record["curve"], strict=True)
        best = np.minimum.accumulate(losses)
        curve = tuple((step * record["flops_per_step"], float(loss)) for step, loss in zip(steps, best, strict=True))
        return cls(item.width, float(record["parameters"]), float(item.pairs), curve, record["bleu"])

    @property
    def loss(self) -> float:
        """The least loss."""
        return self.curve[-1][1]


@dataclass(frozen=True)
class Optimum:
    """The size with the least loss after a number of FLOPs."""

    flops: float
    size: float
    loss: float


@dataclass(frozen=True)
class Laws:
    """All laws, fitted to the same runs."""

    runs: tuple[Run, ...]
    by_size: Fit
    by_data: Fit
    by_compute: Fit
    joint: Fit
    separate: Fit
    bleu: Fit
    frontier: tuple[Optimum, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Laws:
        """Fit the laws."""
        most, largest = max(run.pairs for run in runs), max(run.size for run in runs)
        widest = [run for run in runs if run.size == largest]
        longest = [run for run in runs if run.pairs == most]
        grid, losses = [(run.size, run.pairs) for run in runs], [run.loss for run in runs]
        frontier = tuple(_frontier(longest))
        scored = [run for run in runs if run.bleu >= LEAST_BLEU] or runs
        return cls(
            tuple(runs),
            fit(POWER, [run.size for run in longest], [run.loss for run in longest]),
            fit(POWER, [run.pairs for run in widest], [run.loss for run in widest]),
            fit(POWER, [one.flops for one in frontier], [one.loss for one in frontier]),
            fit(JOINT, grid, losses),
            fit(SEPARATE, grid, losses),
            fit(EXPONENTIAL, [run.loss for run in scored], [max(run.bleu, 0.01) for run in scored], delta=BLEU_DELTA),
            frontier,
        )


def conclusion_of(measured: Sequence[Measured[Any]]) -> Conclusion:
    """Return what follows from all runs; the larger one is left out of the fits, and predicted."""
    runs = [(one, Run.of(one)) for one in measured]
    laws = Laws.of([run for one, run in runs if not one.item.is_larger])
    (larger,) = (run for one, run in runs if one.item.is_larger)
    guess = laws.joint.predict(larger.size, larger.pairs)
    return Conclusion(
        _sentences(laws, larger, guess),
        (_losses(laws.runs), _exponents(laws), _optimal(laws), _predictions(laws, larger)),
        _panels(laws, larger),
        {
            **{name: laws.joint.parameter(name).value for name in ("α_N", "α_D")},
            "k": laws.bleu.parameter("k").value,
            "predicted loss": guess.value,
            "measured loss": larger.loss,
        },
    )


def _frontier(runs: Sequence[Run]) -> Iterator[Optimum]:
    """Yield the best size for some numbers of FLOPs, of those sizes that were trained for about as long."""
    curves = {size: _mean_curve(list(same)) for size, same in groupby(sorted(runs, key=_size), key=_size)}
    first, last = min(flops[0] for flops, _ in curves.values()), max(flops[-1] for flops, _ in curves.values())
    for budget in np.geomspace(first, last, BUDGETS):
        reached = {
            size: float(np.exp(np.interp(np.log(budget), np.log(flops), np.log(losses))))
            for size, (flops, losses) in curves.items()
            if flops[0] <= budget * 1.001  # a run that ended earlier stays at its best
        }
        best = min(reached, key=lambda size: reached[size])
        yield Optimum(float(budget), best, reached[best])


def _mean_curve(runs: Sequence[Run]) -> tuple[Floats, Floats]:
    """Return FLOPs and the mean of the losses over seeds; a run that ended earlier stays at its best."""
    longest = max((run.curve for run in runs), key=len)
    flops = np.array([at for at, _ in longest])
    losses = [[run.curve[min(place, len(run.curve) - 1)][1] for place in range(len(longest))] for run in runs]
    return flops, np.mean(losses, axis=0)


def _size(run: Run) -> float:
    """Return the parameters of a run."""
    return run.size


# --- Tables ----------------------------------------------------------------------------------------------------------


def _losses(runs: Sequence[Run]) -> Table:
    """Return the mean best loss for each size and number of pairs."""
    slices = sorted({run.pairs for run in runs})
    rows: list[tuple[Cell, ...]] = []
    for size, same in groupby(sorted(runs, key=_size), key=_size):
        found = list(same)
        means = (float(np.mean([run.loss for run in found if run.pairs == pairs])) for pairs in slices)
        rows.append((found[0].width, int(size), *means))
    columns = ("width", "N", *(f"D = {int(pairs):,}" for pairs in slices))
    return Table("Least validation loss, in nats per target token, by parameters N and pairs D", columns, tuple(rows))


def _exponents(laws: Laws) -> Table:
    """Return what was fitted beside what is published."""
    log_e = laws.separate.parameter("log E")
    floor = Estimate(*(float(np.exp(one)) for one in (log_e.value, log_e.low, log_e.high)))
    joint, separate = "L = [(N_C/N)^(α_N/α_D) + D_C/D]^α_D", "L = E + A/N^α + B/D^β"
    rows = (
        ("L ∝ N^−α, with the most data", "α", laws.by_size.parameter("α"), f"0.076 ({KAPLAN})"),
        ("L ∝ D^−α, with the largest size", "α", laws.by_data.parameter("α"), f"0.095 ({KAPLAN})"),
        ("L ∝ C^−α, with the best size", "α", laws.by_compute.parameter("α"), f"0.050 ({KAPLAN})"),
        (joint, "α_N", laws.joint.parameter("α_N"), f"0.11 to 0.12 ({GORDON})"),
        (joint, "α_D", laws.joint.parameter("α_D"), f"0.38 to 0.42 ({GORDON})"),
        (separate, "α", laws.separate.parameter("α"), f"0.348 ({CHINCHILLA})"),
        (separate, "β", laws.separate.parameter("β"), f"0.366 ({CHINCHILLA})"),
        (separate, "E", floor, f"1.82 ({CHINCHILLA})"),
        ("BLEU = C·e^(−k·L)", "k", laws.bleu.parameter("k"), f"0.43 to 0.47 ({GORDON})"),
    )
    shown = tuple((law, name, str(estimate), published) for law, name, estimate, published in rows)
    return Table("Fitted exponents and published ones", ("law", "", "here", "published"), shown)


def _optimal(laws: Laws) -> Table:
    """Return the frontier."""
    rows = tuple((f"{one.flops:.1e}", int(one.size), one.loss) for one in laws.frontier)
    return Table("The best size for a number of FLOPs, with the most data", ("C", "N", "loss"), rows)


def _predictions(laws: Laws, larger: Run) -> Table:
    """Return what was predicted of the larger run, and what it reached."""
    rows: list[tuple[Cell, ...]] = []
    for name, law in (("joint", laws.joint), ("separate", laws.separate)):
        loss = law.predict(larger.size, larger.pairs)
        rows.append((f"loss, {name} law", str(loss), larger.loss, _error(loss.value, larger.loss)))
    bleu = laws.bleu.predict(laws.joint.predict(larger.size, larger.pairs).value)
    rows.append(("BLEU, joint law", str(bleu), larger.bleu, _error(bleu.value, larger.bleu)))
    title = f"The larger run, with N = {int(larger.size):,} and D = {int(larger.pairs):,}, which no law was fitted to"
    return Table(title, ("", "predicted", "measured", "error"), tuple(rows))


def _error(predicted: float, measured: float) -> str:
    """Return how wrong a prediction was."""
    return f"{100 * (predicted / max(measured, 0.01) - 1):+.1f} %"


def _sentences(laws: Laws, larger: Run, guess: Estimate) -> tuple[str, str]:
    """Return what came out, and how certain it is."""
    runs = laws.runs
    times = larger.size / max(run.size for run in runs), larger.pairs / max(run.pairs for run in runs)
    answer = (
        f"The loss falls with exponents of {laws.joint.parameter('α_N')} by parameters and "
        f"{laws.joint.parameter('α_D')} by data; a run with {times[0]:.1f} times the parameters and {times[1]:.1f} "
        f"times the data of the largest fitted ones was predicted to reach a loss of {guess} and reached "
        f"{larger.loss:.3g}, so the prediction was off by {_error(guess.value, larger.loss)}."
    )
    groups: dict[tuple[float, float], list[float]] = {}
    for run in runs:
        groups.setdefault((run.size, run.pairs), []).append(run.loss)
    seeds = max(groups.values(), key=len)
    floor = "with so few seeds of each size, there is no noise floor"
    if len(seeds) >= LEAST_SEEDS:
        floor = f"the noise floor is {noise_floor(seeds):.2g} nats over {len(seeds)} seeds"
    return answer, f"Intervals are 95 % of a bootstrap over the residuals of {len(runs)} runs; {floor}."


# --- Pictures --------------------------------------------------------------------------------------------------------


def _panels(laws: Laws, larger: Run) -> tuple[Panel, ...]:
    """Return loss by size, by data and by compute, and BLEU by loss, with the fitted laws as dashed lines."""
    scored = sorted((run.loss, run.bleu) for run in laws.runs if run.bleu >= LEAST_BLEU)
    losses = np.linspace(min(run.loss for run in (*laws.runs, larger)), max(run.loss for run in laws.runs), 20)
    return (
        Panel("loss by parameters", "N", "nats per token", tuple(_by_size(laws, larger)), True, True),
        Panel("loss by data", "D", "nats per token", tuple(_by_data(laws, larger)), True, True),
        Panel("loss by compute", "FLOPs", "nats per token", tuple(_by_compute(laws)), True, True),
        Panel(
            "BLEU by loss",
            "nats per token",
            "BLEU",
            (
                _curve("runs", scored),
                _curve("larger run", [(larger.loss, larger.bleu)]),
                Curve("C·e^(−k·L)", tuple(losses), tuple(laws.bleu.curve(losses)), dashed=True),
            ),
        ),
    )


def _by_size(laws: Laws, larger: Run) -> Iterator[Curve]:
    """Yield the losses by parameters for each number of pairs, and the joint law for those of the larger run."""
    for pairs in sorted({run.pairs for run in laws.runs}):
        yield _curve(f"D = {int(pairs):,}", [(run.size, run.loss) for run in laws.runs if run.pairs == pairs])
    sizes = sorted({run.size for run in (*laws.runs, larger)})
    yield from _law(laws, larger, sizes, [(size, larger.pairs) for size in sizes], larger.size)


def _by_data(laws: Laws, larger: Run) -> Iterator[Curve]:
    """Yield the losses by pairs for each size, and the joint law for the size of the larger run."""
    for size in sorted({run.size for run in laws.runs}):
        yield _curve(f"N = {int(size):,}", [(run.pairs, run.loss) for run in laws.runs if run.size == size])
    slices = sorted({run.pairs for run in (*laws.runs, larger)})
    yield from _law(laws, larger, slices, [(larger.size, pairs) for pairs in slices], larger.pairs)


def _law(
    laws: Laws, larger: Run, x: Sequence[float], points: Sequence[tuple[float, float]], place: float
) -> Iterator[Curve]:
    """Yield what the joint law says of points, and what the larger run reached."""
    yield Curve("larger run, predicted", tuple(x), tuple(laws.joint.curve(points)), dashed=True)
    yield _curve("larger run", [(place, larger.loss)])


def _by_compute(laws: Laws) -> Iterator[Curve]:
    """Yield the losses of each size with the most data while it learns, and the law of the frontier."""
    most = max(run.pairs for run in laws.runs)
    longest = sorted((run for run in laws.runs if run.pairs == most), key=_size)
    for size, same in groupby(longest, key=_size):
        flops, losses = _mean_curve(list(same))
        yield Curve(f"N = {int(size):,}", tuple(flops), tuple(losses))
    budgets = [one.flops for one in laws.frontier]
    yield Curve("frontier", tuple(budgets), tuple(laws.by_compute.curve(budgets)), dashed=True)


def _curve(label: str, points: Sequence[tuple[float, float]]) -> Curve:
    """Return a line through the means of what has the same x."""
    x = sorted({at for at, _ in points})
    return Curve(label, tuple(x), tuple(float(np.mean([y for at, y in points if at == one])) for one in x))
