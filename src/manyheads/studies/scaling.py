"""How does the loss fall with parameters, data and compute, and what would a larger run reach?

    L(N), L(D)      the best loss of a run by the parameters of its layers, and by its pairs; the other is the largest
    L(C)            the least loss that any size has reached after a number of FLOPs, with the most data
    L(N, D)         both forms of `power_laws`
    BLEU            C·e^(−k·CE), over all runs

All runs have the same pieces, learned from the whole corpus, so that their losses compare. Slices of the data are
random, and larger ones have all of the smaller ones. A run is validated often and ends when that no longer improves.
The larger run is not fitted: the laws predict it from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from manyheads.config.corpora import CorpusSettings, TokenizerSettings
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import Tokenizers, train_tokenizers
from manyheads.evaluation.evaluate import evaluate
from manyheads.runs.folder import RunFolder
from manyheads.studies.conclusion import Conclusion
from manyheads.studies.scaling_laws import conclusion_of
from manyheads.studies.slices import COLUMNS, slice_of, write_pairs
from manyheads.studies.study import Item, Measured, Record, Study
from manyheads.studies.training import layer_parameters, trained
from manyheads.tasks import task_for
from manyheads.tasks.interface import Machine
from manyheads.training.fitting import SAMPLED_BATCHES

CORPUS = "data:multi30k/raw"  # of `manyheads data get multi30k`
SOURCE, TARGET = "en", "de"
LAYERS, HEAD_WIDTH = 2, 16
RATE, WARM_UP = 0.01, 50


@dataclass(frozen=True)
class Training(Item):
    """The width of a model, its pairs, how long it may learn, and how many test sentences it translates.

    `is_larger` marks the run that is predicted from the others.
    """

    width: int
    pairs: int
    steps: int
    every: int
    seed: int
    tested: int = 1000
    is_larger: bool = False
    corpus: str = CORPUS
    pieces: int = 4000

    @property
    def key(self) -> str:
        """The sizes and the seed."""
        return f"width-{self.width}-pairs-{self.pairs}-{self.seed}"


class Scaling(Study[Training]):
    """D4: scaling laws."""

    name: ClassVar[str] = "scaling"
    question: ClassVar[str] = "How does the loss fall with parameters, data and compute, and is a larger run predicted?"
    seconds: ClassVar[float] = 5 * 3600.0
    quick_seconds: ClassVar[float] = 60.0

    def items(self, *, quick: bool) -> Sequence[Training]:
        """Return a grid of sizes, one of them with five seeds, and at last the larger run."""
        if quick:
            sizes = [(width, pairs) for width in (16, 32, 48) for pairs in (250, 1000, 4000)]
            grid = [Training(width, pairs, 100, 20, 1, tested=100, pieces=1000) for width, pairs in sizes]
            return [*grid, Training(64, 8000, 100, 20, 1, tested=100, pieces=1000, is_larger=True)]
        widths, slices = (32, 48, 64, 96, 128), (1812, 3625, 7250, 14_500)
        grid = [Training(width, pairs, 2000, 100, seed) for width in widths for pairs in slices for seed in (1, 2, 3)]
        again = [Training(64, slices[-1], 2000, 100, seed) for seed in (4, 5)]
        return [*grid, *again, Training(192, 29_000, 4000, 100, 1, is_larger=True)]

    def measure(self, item: Training, folder: Path) -> Record:
        """Train a run; return its parameters, its losses by step, what a step costs, and its BLEU."""
        corpus = write_pairs(slice_of(_pairs(item.corpus, "train"), item.pairs, seed=item.seed), folder / "train.jsonl")
        test = write_pairs(_pairs(item.corpus, "test_2016_flickr")[: item.tested], folder / "test.jsonl")
        settings = recipe(item, corpus)
        run = trained(settings, folder / "run", tokenizers=lambda: _tokenizers(item.corpus, item.pieces))
        found = evaluate(run.path, pairs=test["pairs"], columns=COLUMNS, metrics=["bleu"], device="cpu", beam=1)
        curve = [(entry["step"], entry["loss"]) for entry in run.metrics() if entry.get("kind") == "validation"]
        return {"curve": curve, "bleu": found["bleu"], **_costs(settings, run)}

    def conclude(self, measured: Sequence[Measured[Training]]) -> Conclusion:
        """Fit the laws, and compare what they predict with what the larger run reached."""
        return conclusion_of(measured)


# --- Runs ------------------------------------------------------------------------------------------------------------


def recipe(item: Training, corpus: dict[str, str]) -> TranslationRecipe:
    """Return the recipe of a run: the parts that `train` chooses for files, without smoothing."""
    return TranslationRecipe.model_validate(
        {
            "name": item.key,
            "seed": item.seed,
            "data": {
                "train": corpus,
                "valid": {side: f"{item.corpus}/val.{code}.gz" for side, code in _sides()},
                "source_language": SOURCE,
                "target_language": TARGET,
            },
            "tokenizer": {"vocabulary": item.pieces},
            "model": {
                "width": item.width,
                "heads": max(1, item.width // HEAD_WIDTH),
                "encoder_layers": LAYERS,
                "decoder_layers": LAYERS,
                "feed_forward": 4 * item.width,
                "dropout": 0.1,
                "norm": "pre",
                "positions": {"kind": "rotary"},
            },
            "training": {
                "steps": item.steps,
                "batch_tokens": 1024,
                "label_smoothing": 0.0,
                "optimiser": "muon",
                "schedule": {"kind": "inverse_sqrt", "rate": RATE, "warmup": WARM_UP},
                "clip_norm": 1.0,
                "checkpoint_every": item.steps,
                "keep_checkpoints": 1,
                "threads": 1,
            },
            "validation": {"every": item.every, "metric": "loss", "samples": 0, "patience": 6},
        }
    )


def _costs(settings: TranslationRecipe, run: RunFolder) -> dict[str, float]:
    """Return the parameters of a run's layers, and the target tokens and FLOPs of an update."""
    task = task_for(settings).prepare(settings, run, Machine(), lambda _: None)
    model = task.same_model()
    objective, batches = task.objective(model), task.batches_at(0)
    sample = [batches[number] for number in range(SAMPLED_BATCHES)]
    return {
        "parameters": layer_parameters(model),
        "tokens_per_step": sum(map(objective.count, sample)) / SAMPLED_BATCHES,
        "flops_per_step": sum(map(objective.flops, sample)) / SAMPLED_BATCHES,
    }


@cache
def _pairs(corpus: str, part: str) -> list[Pair]:
    """Return the pairs of a part of the corpus."""
    files = {side: f"{corpus}/{part}.{code}.gz" for side, code in _sides()}
    return list(open_corpus(CorpusSettings.model_validate(files), split="train").pairs())


@cache
def _tokenizers(corpus: str, pieces: int) -> Tokenizers:
    """Return pieces that are learned from the whole corpus."""
    return train_tokenizers(_pairs(corpus, "train"), TokenizerSettings(vocabulary=pieces))


def _sides() -> tuple[tuple[str, str], ...]:
    """Return the sides of the corpus with their languages."""
    return ("source", SOURCE), ("target", TARGET)
