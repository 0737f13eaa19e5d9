"""What is each part of the Transformer worth? Table 3 of the paper in miniature, and models that lack a part.

    (A) heads, at equal cost: d_k = d_model/h       (D) without dropout, without label smoothing
    (B) narrower keys: a smaller d_k                (E) learned positions in place of sinusoids
    (C) depth and width                             (F) without feed-forward, residuals, scale or positions

All variants learn from the same pairs, in the same batches, for the same number of updates. The loss is that per token
of held-out pairs, without label smoothing; nothing is chosen by it, since a run is validated once, at its end.

The scale 1/√d_k is left out at three widths of heads: the paper expects it to matter where d_k is large, since the
scores q·k have the variance d_k if the components of q and k have the variance 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from torch import nn

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.metrics.significance import holm
from manyheads.studies.conclusion import Conclusion, Curve, Panel, Table, listed
from manyheads.studies.parts import Part, narrow_keys, remove
from manyheads.studies.statistics import LEAST_SEEDS, Effect, Estimate, effects, mean_estimate, noise_floor
from manyheads.studies.study import Item, Measured, Record, Study
from manyheads.studies.training import trained_with

REVERSED = {"min_length": 1, "max_length": 6, "symbols": 8}
Corpus = Literal["tatoeba", "reverse"]
CORPORA: dict[Corpus, dict[str, Any]] = {
    "tatoeba": {  # of `manyheads data get tatoeba-fra-eng`
        "data": {
            "train": {"pairs": "data:tatoeba/fra-eng.2019-04-07.tsv.gz"},
            "held_out": 1000,
            "max_length": 40,
            "source_language": "en",
            "target_language": "fr",
        },
        "tokenizer": {"kind": "bpe", "vocabulary": 4000},
    },
    "reverse": {
        "data": {
            "train": {"task": "reverse", "count": 10_000, "options": REVERSED},
            "valid": {"task": "reverse", "count": 200, "options": REVERSED},
            "max_length": 8,
        },
        "tokenizer": {"kind": "symbols"},
    },
}
"""What is learned: English to French, and to reverse symbols, which takes seconds."""
METRICS: dict[Corpus, Literal["bleu", "exact_match"]] = {"tatoeba": "bleu", "reverse": "exact_match"}
NAMES = {"bleu": "BLEU", "exact_match": "% right"}
BASE, ONE_HEAD = "base", "1 head"
PARTS: tuple[Part, ...] = ("feed-forward", "residuals", "positions", "scale")


@dataclass(frozen=True)
class Variant:
    """A Transformer with the letter of its row in Table 3, or F, which is not there."""

    name: str
    row: str
    layers: int
    width: int
    heads: int
    key_width: int
    """d_k; d_v is width/heads."""
    dropout: float = 0.1
    smoothing: float = 0.1
    learned_positions: bool = False
    without: Part | None = None


@dataclass(frozen=True)
class Budget:
    """What all variants have in common: updates, and tokens of a batch."""

    steps: int
    tokens: int


@dataclass(frozen=True)
class Training(Item):
    """A variant, what it learns, and from how much."""

    variant: Variant
    corpus: Corpus
    budget: Budget
    seed: int

    @property
    def key(self) -> str:
        """The variant and the seed."""
        return f"{self.variant.name.replace(',', '').replace(' = ', '-').replace(' ', '-')}-{self.seed}"


class Ablations(Study[Training]):
    """D10: what each part is worth."""

    name: ClassVar[str] = "ablations"
    question: ClassVar[str] = "What is each part of the Transformer worth, and is the scale 1/√d_k really needed?"
    seconds: ClassVar[float] = 3.5 * 3600.0
    quick_seconds: ClassVar[float] = 45.0

    def items(self, *, quick: bool) -> Sequence[Training]:
        """Return every variant with three seeds and the base with five; those that lack a part alone if `quick`."""
        if quick:
            base = Variant(BASE, "–", layers=1, width=32, heads=4, key_width=8, dropout=0.0)
            few = [one for one in variants(base) if one.row in ("–", "F") or one.name == ONE_HEAD]
            return _items([one for one in few if one.heads <= base.heads], "reverse", Budget(250, 512), seeds=2)
        base = Variant(BASE, "–", layers=2, width=128, heads=4, key_width=32)
        return _items(variants(base), "tatoeba", Budget(1000, 1024), seeds=3)

    def measure(self, item: Training, folder: Path) -> Record:
        """Train a run; return its loss and its score on pairs that it has not seen, and its number of weights."""
        found = trained_with(lambda model: change(model, item.variant), recipe(item), folder)
        return {"loss": found["loss"], "score": found[METRICS[item.corpus]], "parameters": found["parameters"]}

    def conclude(self, measured: Sequence[Measured[Training]]) -> Conclusion:
        """Compare every variant with the base, and every model without the scale with the same one that has it."""
        compared = _Compared(measured)
        return Conclusion(
            _sentences(compared),
            (_variants_table(compared), _effects_table(compared), _scale_table(compared)),
            _panels(compared),
            {f"loss, {one.variant}": one.difference.value for one in compared.effects("loss")},
        )


# --- Variants --------------------------------------------------------------------------------------------------------


def variants(base: Variant) -> list[Variant]:
    """Return the base and all its variants, in the order of Table 3."""
    with_heads = {heads: replace(base, row="A", heads=heads, key_width=base.width // heads) for heads in (1, 2, 8)}
    return [
        base,
        *(replace(one, name=_heads(heads)) for heads, one in with_heads.items()),
        *(replace(base, name=f"d_k = {width}", row="B", key_width=width) for width in _narrower(base.key_width)),
        replace(base, name="half the depth", row="C", layers=max(1, base.layers // 2)),
        replace(base, name="twice the depth", row="C", layers=2 * base.layers),
        replace(base, name="half the width", row="C", width=base.width // 2, key_width=base.key_width // 2),
        replace(base, name="twice the width", row="C", width=2 * base.width, key_width=2 * base.key_width),
        replace(base, name="without dropout", row="D", dropout=0.0),
        replace(base, name="without smoothing", row="D", smoothing=0.0),
        replace(base, name="learned positions", row="E", learned_positions=True),
        *(replace(base, name=f"without {part}", row="F", without=part) for part in PARTS),
        *(
            replace(with_heads[heads], name=f"{_heads(heads)}, without scale", row="F", without="scale")
            for heads in (1, 8)
        ),
    ]


def change(model: nn.Module, variant: Variant) -> None:
    """Give a model built from a recipe what its variant has and recipes do not offer."""
    if variant.key_width != variant.width // variant.heads:
        narrow_keys(model, variant.key_width)
    if variant.without is not None:
        remove(variant.without, model)


def recipe(item: Training) -> TranslationRecipe:
    """Return the recipe of a run."""
    variant, steps = item.variant, item.budget.steps
    return TranslationRecipe.model_validate(
        {
            "name": item.key,
            "seed": item.seed,
            **CORPORA[item.corpus],
            "model": {
                "width": variant.width,
                "heads": variant.heads,
                "encoder_layers": variant.layers,
                "decoder_layers": variant.layers,
                "feed_forward": 4 * variant.width,
                "dropout": variant.dropout,
                "positions": {"kind": "learned", "maximum": 128} if variant.learned_positions else {},
            },
            "training": {
                "steps": steps,
                "batch_tokens": item.budget.tokens,
                "label_smoothing": variant.smoothing,
                "schedule": {"kind": "linear", "rate": 0.003, "warmup": steps // 10},
                "clip_norm": 1.0,
                "checkpoint_every": max(100, steps // 5),
                "keep_checkpoints": 1,
                "threads": 1,
            },
            "decoding": {"extra_length": 10},
            "validation": {"every": steps, "metric": METRICS[item.corpus], "samples": 0},
        }
    )


def _items(some: Sequence[Variant], corpus: Corpus, budget: Budget, *, seeds: int) -> list[Training]:
    """Return every variant with its seeds; the base has as many as a noise floor needs."""
    return [
        Training(variant, corpus, budget, seed)
        for variant in some
        for seed in range(1, 1 + (LEAST_SEEDS if variant.name == BASE else seeds))
    ]


def _narrower(key_width: int) -> tuple[int, int]:
    """Return a half and a quarter of d_k."""
    return key_width // 2, key_width // 4


def _heads(heads: int) -> str:
    """Return a number of heads in words."""
    return f"{heads} head{'s' if heads > 1 else ''}"


# --- Conclusions -----------------------------------------------------------------------------------------------------


class _Compared:
    """The variants with their losses and scores, one for each seed."""

    def __init__(self, measured: Sequence[Measured[Training]]) -> None:
        self.variants = list(dict.fromkeys(one.item.variant for one in measured))
        self.metric = NAMES[METRICS[measured[0].item.corpus]]
        self.budget = measured[0].item.budget
        self._measured = measured

    def values(self, what: str, variant: Variant) -> list[float]:
        """Return the loss, the score or the number of weights of all seeds."""
        return [one.record[what] for one in self._measured if one.item.variant == variant]

    def mean(self, what: str, variant: Variant) -> Estimate:
        """Return the mean over seeds."""
        return mean_estimate(self.values(what, variant))

    def noise(self, what: str) -> float:
        """Return the noise floor."""
        return noise_floor(self.values(what, self.variants[0]))

    def effects(self, what: str) -> list[Effect]:
        """Return the differences of all variants from the base."""
        return effects(self.values(what, self.variants[0]), {one.name: self.values(what, one) for one in self.others})

    @property
    def others(self) -> list[Variant]:
        """All variants but the base."""
        return self.variants[1:]

    def unscaled(self) -> list[tuple[Variant, Variant, Effect]]:
        """Return each model with the scale, the same without it, and what that changes; the smallest d_k is first."""
        pairs = [
            (one, other)
            for other in sorted(self.others, key=lambda one: one.key_width)
            for one in self.variants
            if other.without == "scale" and replace(other, name=one.name, row=one.row, without=None) == one
        ]
        found = [effects(self.values("loss", one), {"": self.values("loss", other)})[0] for one, other in pairs]
        corrected = holm([effect.p_value for effect in found])
        return [
            (one, other, replace(effect, p_value=p_value))
            for (one, other), effect, p_value in zip(pairs, found, corrected, strict=True)
        ]


def _variants_table(compared: _Compared) -> Table:
    """Return what every variant is and reaches."""
    rows = tuple(
        (
            one.row,
            one.name,
            one.layers,
            one.width,
            one.heads,
            one.key_width,
            int(compared.values("parameters", one)[0]),
            str(compared.mean("loss", one)),
            str(compared.mean("score", one)),
        )
        for one in compared.variants
    )
    columns = ("row", "variant", "N", "d_model", "h", "d_k", "weights", "loss", compared.metric)
    return Table(f"Loss and score on held-out pairs after {compared.budget.steps:,} updates", columns, rows)


def _effects_table(compared: _Compared) -> Table:
    """Return the differences from the base."""
    rows = tuple(
        (loss.variant, *(f"{one.difference}, p = {one.p_value:.2g}" for one in (loss, score)))
        for loss, score in zip(compared.effects("loss"), compared.effects("score"), strict=True)
    )
    title = f"Differences from the base, with p-values after Holm's correction for {len(rows)} variants"
    return Table(title, ("variant", "loss", compared.metric), rows)


def _scale_table(compared: _Compared) -> Table:
    """Return what the scale changes, by the width of the heads."""
    rows = tuple(
        (
            one.key_width,
            one.heads,
            str(compared.mean("loss", one)),
            str(compared.mean("loss", other)),
            str(effect.difference),
            f"{effect.p_value:.2g}",
        )
        for one, other, effect in compared.unscaled()
    )
    columns = ("d_k", "h", "loss with the scale", "without", "difference", "p after Holm's correction")
    return Table("The scale 1/√d_k, by the width of the heads", columns, rows)


def _sentences(compared: _Compared) -> tuple[str, str]:
    """Return whether the scale is needed, and which parts are worth most."""
    unscaled = compared.unscaled()
    changes = listed([f"{effect.difference} at d_k = {one.key_width}" for one, _, effect in unscaled])
    needed = [f"d_k = {one.key_width}" for one, _, effect in unscaled if _is_worse(effect)]
    verdict = f"needed at {listed(needed)} (p < 0.05)" if needed else "not shown to be needed at any of them"
    parts = {one.name for one in compared.others if one.row == "F" and one.without != "scale"} | {ONE_HEAD}
    worth = sorted(
        (one for one in compared.effects("loss") if one.variant in parts and _is_worse(one)),
        key=lambda one: -one.difference.value,
    )
    rises = [f"{one.difference} {'with ' if one.variant == ONE_HEAD else ''}{one.variant}" for one in worth]
    best = (
        f"The loss rises by {listed(rises)}, the parts worth most" if rises else "No other part is shown to be needed"
    )
    return (
        f"Without the scale 1/√d_k the loss changes by {changes}, so the scale is {verdict}.",
        f"{best} (p < 0.05 after Holm's correction for {len(compared.others)} variants); the noise floor over "
        f"{LEAST_SEEDS} seeds is {compared.noise('loss'):.2g} in loss and {compared.noise('score'):.2g} in "
        f"{compared.metric}.",
    )


def _is_worse(effect: Effect) -> bool:
    """Whether a loss is higher by more than chance explains."""
    return effect.is_significant and effect.difference.value > 0.0


def _panels(compared: _Compared) -> tuple[Panel, ...]:
    """Return loss by the width of heads with and without the scale, and loss and score without a part."""
    unscaled = compared.unscaled()
    widths = tuple(float(one.key_width) for one, _, _ in unscaled)
    scaled = [compared.mean("loss", one) for one, _, _ in unscaled]
    plain = [compared.mean("loss", other) for _, other, _ in unscaled]
    curves = (_curve("with the scale", widths, scaled), _curve("without", widths, plain))
    points = tuple(
        Curve(one.name, (compared.mean("loss", one).value,), (compared.mean("score", one).value,))
        for one in compared.variants
        if one.name in (BASE, ONE_HEAD) or one.row == "F"
    )
    return (
        Panel("the scale 1/√d_k", "d_k", "loss", curves, log_x=True),
        Panel("without a part", "loss", compared.metric, points),
    )


def _curve(label: str, x: tuple[float, ...], found: Sequence[Estimate]) -> Curve:
    """Return estimates as a line with bounds."""
    middle, low, high = (tuple(getattr(one, name) for one in found) for name in ("value", "low", "high"))
    return Curve(label, x, middle, low, high)
