"""Which positions extrapolate? Transformers that learn to copy short sequences, tested on longer ones.

    added to embeddings     sinusoidal (the paper's), learned, and both drawn at random from a longer range in training
    inside attention        relative (trained vectors), relative sinusoids, T5's buckets, rotary, ALiBi

A run is an encoder and a decoder that learn sequences of 1 to n symbols. It is tested on new sequences of exactly n, 2n
and 4n symbols. The score is the share of symbols that are right: 100 % minus the symbol error rate, and at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.evaluation.evaluate import evaluate
from manyheads.inspection.positions import PositionTable, position_table, run_position_table
from manyheads.studies.conclusion import Conclusion, Curve, HeatMap, Panel, Table, listed
from manyheads.studies.statistics import LEAST_SEEDS, Effect, Estimate, effects, mean_estimate, noise_floor
from manyheads.studies.study import Item, Measured, Record, Study
from manyheads.studies.training import trained

Kind = Literal[
    "sinusoidal",
    "learned",
    "sinusoidal, randomised",
    "learned, randomised",
    "relative",
    "relative sinusoids",
    "T5",
    "rotary",
    "ALiBi",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
BASELINE: Kind = "sinusoidal"
LONGER = (1, 2, 4)  # times the longest sequence of training
METRIC = "symbol_error_rate"
SYMBOLS, TESTED = 26, 100  # kinds of symbols; test sequences of each length
EXTRA = 2  # symbols that an output may be longer than its source


@dataclass(frozen=True)
class Training(Item):
    """A kind of positions, the longest sequence that is learned, and how long it is learned."""

    kind: Kind
    longest: int
    width: int
    steps: int
    seed: int

    @property
    def key(self) -> str:
        """The kind and the seed."""
        return f"{self.kind.replace(',', '').replace(' ', '-')}-{self.seed}"


class Positions(Study[Training]):
    """D5 and A6: positions beyond the lengths of training."""

    name: ClassVar[str] = "positions"
    question: ClassVar[str] = "Which positions extrapolate to sequences longer than those of training?"
    seconds: ClassVar[float] = 4 * 3600.0
    quick_seconds: ClassVar[float] = 90.0

    def items(self, *, quick: bool) -> Sequence[Training]:
        """Return every kind with several seeds, the paper's with five."""
        if quick:
            return [Training(kind, 8, 32, 400, 1) for kind in KINDS]
        seeds = {kind: 5 if kind == BASELINE else 3 for kind in KINDS}
        return [Training(kind, 100, 128, 4000, seed) for kind in KINDS for seed in range(1, seeds[kind] + 1)]

    def measure(self, item: Training, folder: Path) -> Record:
        """Train a run, and return the share of right symbols at each length, and dot products of learned positions."""
        run = trained(recipe(item), folder)
        right = {}
        for times in LONGER:
            length = times * item.longest
            lengths = {"min_length": length, "max_length": length}
            # Longer texts than those of training would be translated in parts, each of which is as short.
            found = evaluate(
                run.path,
                count=TESTED,
                options=lengths,
                metrics=[METRIC],
                engine="torch",
                device="cpu",
                beam=1,
                split_above=0,
            )
            right[str(length)] = max(0.0, 100.0 - found[METRIC])
        table = run_position_table(run, length=item.longest) if item.kind == "learned" else None
        return {"right": right, "dot_products": None if table is None else table.to_json()["dot_products"]}

    def conclude(self, measured: Sequence[Measured[Training]]) -> Conclusion:
        """Compare every kind with the paper's at every length."""
        scores: Scores = {}
        for one in measured:
            scores.setdefault(one.item.kind, []).append(one.record["right"])
        lengths = list(scores[BASELINE][0])
        means = {kind: [mean_estimate(_at(found, length)) for length in lengths] for kind, found in scores.items()}
        columns = ("positions", *(f"n = {length}" for length in lengths))
        rows = tuple((kind, *map(str, estimates)) for kind, estimates in means.items())
        return Conclusion(
            _sentences(scores, lengths[1]),
            (Table(f"Symbols that are right, in percent, after sequences of up to {lengths[0]}", columns, rows),),
            (*_pictures(measured), _panel(means, lengths)),
            {f"{kind}, n = {lengths[1]}": estimates[1].value for kind, estimates in means.items()},
        )


# --- Runs ------------------------------------------------------------------------------------------------------------


def recipe(item: Training) -> TranslationRecipe:
    """Return the recipe of a run."""
    task = {"task": "copy", "options": {"min_length": 1, "max_length": item.longest, "symbols": SYMBOLS}}
    return TranslationRecipe.model_validate(
        {
            "name": item.key,
            "seed": item.seed,
            "data": {
                "train": {**task, "count": 50_000},
                "valid": {**task, "count": TESTED},
                "max_length": item.longest + 2,
            },
            "tokenizer": {"kind": "symbols"},
            "model": {
                "width": item.width,
                "heads": 4,
                "encoder_layers": 2,
                "decoder_layers": 2,
                "feed_forward": 4 * item.width,
                "dropout": 0.0,
                "norm": "pre",
                "positions": positions(item),
            },
            "training": {
                "steps": item.steps,
                "batch_tokens": 1024,
                "schedule": {"kind": "inverse_sqrt", "rate": 0.003, "warmup": max(1, item.steps // 10)},
                "clip_norm": 1.0,
                "checkpoint_every": max(100, item.steps // 10),
                "threads": 1,
            },
            "decoding": {"extra_length": EXTRA},
            "validation": {"every": item.steps, "metric": METRIC, "sentences": TESTED, "samples": 0},
        }
    )


def positions(item: Training) -> dict[str, Any]:
    """Return the keys under `model.positions`; tables of positions are long enough for the longest test."""
    longest = LONGER[-1] * item.longest + EXTRA + 2  # those of the start and the end
    match item.kind:
        case "sinusoidal, randomised":
            return {"kind": "sinusoidal", "randomised": longest}
        case "learned":
            return {"kind": "learned", "maximum": longest}
        case "learned, randomised":
            return {"kind": "learned", "maximum": longest, "randomised": longest}
        case "relative sinusoids":
            return {"kind": "relative_sinusoidal"}
    return {"kind": item.kind.lower()}


# --- Conclusions -----------------------------------------------------------------------------------------------------

Scores = dict[Kind, list[dict[str, float]]]
"""For each kind of positions and each seed, the share of right symbols by length."""


def _at(found: Sequence[dict[str, float]], length: str) -> list[float]:
    """Return the scores of all seeds at a length."""
    return [one[length] for one in found]


def _sentences(scores: Scores, length: str) -> tuple[str, str]:
    """Return what came out at twice the length of training, and how certain it is."""
    found: dict[str, list[float]] = {kind: _at(one, length) for kind, one in scores.items()}
    means = {kind: mean_estimate(values) for kind, values in found.items()}
    best = max(means, key=lambda kind: means[kind].value)
    answer = (
        f"At {length} symbols, twice those of training, {best} positions are right in {means[best]} % of the symbols, "
        f"and the paper's in {means[BASELINE]} %."
    )
    baseline = found.pop(BASELINE)
    if len(baseline) < LEAST_SEEDS:
        return answer, "With one seed of each kind, differences are not tested."
    return answer, (
        f"The noise floor of the paper's is {noise_floor(baseline):.2g} points over {len(baseline)} seeds; with Holm's "
        f"correction, these differ from it: {_different(effects(baseline, found))}."
    )


def _different(found: Sequence[Effect]) -> str:
    """Return the kinds that are better or worse than the baseline, with the differences."""
    return listed([f"{one.variant} ({one.difference})" for one in found if one.is_significant]) or "none"


def _panel(means: dict[Kind, list[Estimate]], lengths: Sequence[str]) -> Panel:
    """Return the scores by length."""
    x = tuple(map(float, lengths))
    curves = []
    for kind, estimates in means.items():
        middle, low, high = (tuple(getattr(one, name) for one in estimates) for name in ("value", "low", "high"))
        curves.append(Curve(kind, x, middle, low, high))
    return Panel("right symbols", "symbols of a sequence", "%", tuple(curves), log_x=True)


def _pictures(measured: Sequence[Measured[Training]]) -> tuple[HeatMap, ...]:
    """Return the paper's encodings, their dot products, and those of learned positions."""
    longest = measured[0].item.longest
    table: PositionTable = position_table(longest, measured[0].item.width)
    learned = [one.record["dot_products"] for one in measured if one.item.kind == "learned"]
    return (
        HeatMap("sinusoidal encodings", "dimension", "position", _rows(table.to_json()["encodings"])),
        HeatMap("their dot products", "position", "position", _rows(table.to_json()["dot_products"])),
        HeatMap("dot products of learned positions", "position", "position", _rows(learned[0])),
    )


def _rows(values: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Return a matrix as a heat map has it."""
    return tuple(tuple(row) for row in values)
