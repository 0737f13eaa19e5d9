"""Planning as a function: what a training on some files would reach on this machine, from a handful of tiny ones.

print(plan(Files(source="train.en", target="train.de"), minutes=10))

Within the given minutes, two sizes of models learn from all pairs and from slices of them, for different times. All
have the same pieces and are measured on the pairs that `train` would hold out. The laws of `outlook`, fitted to them,
say what the sizes that `train` would choose reach in hours.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.text.held_out import open_corpora
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError
from manyheads.evaluation.evaluate import evaluate
from manyheads.models.build import build_model
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device
from manyheads.studies.forecast import MORE, SHOWN, Expected, Forecast, TinyRun, checksums
from manyheads.studies.outlook import SCORES, Outlook, estimate
from manyheads.studies.slices import COLUMNS, slice_of, write_pairs
from manyheads.studies.training import layer_parameters
from manyheads.tasks.interface import Machine, Tell
from manyheads.tasks.translation import TranslationTask
from manyheads.training.files import Columns, Files
from manyheads.training.fitting import MOST_EPOCHS, SCALES, ChosenFitting, Scale
from manyheads.training.machine.pace import Pace, fastest_pace, measure_pace
from manyheads.training.planning import SHORTEST_PROBE, UPDATES
from manyheads.training.progress import Reporter, duration
from manyheads.training.train import train
from manyheads.training.trainer import thread_count

FEWEST_PAIRS = 1000
HOURS = (0.1, 0.3, *SHOWN)
GAIN = 0.5  # points of the score that a larger model must add
LEAST_SECONDS = 3.0  # of a tiny run
TRAINED = 0.8  # of the time of a tiny run; the rest is for its start and its score


class Share(NamedTuple):
    """A tiny run: its size, its share of the time, and how many epochs of a slice that is; 0 takes all pairs."""

    scale: Scale
    time: float
    epochs: int = 0


SHARES = (
    Share(SCALES[0], 1),
    Share(SCALES[0], 2, epochs=6),
    Share(SCALES[0], 2, epochs=24),
    Share(SCALES[0], 3),
    Share(SCALES[1], 4),
)


def plan(
    files: Files,
    *,
    minutes: float = 10.0,
    out: Path | str | None = None,
    device: str = "auto",
    tell: Tell | None = None,
) -> Forecast:
    """Return what to expect of a training on files after hours, and what more data or larger models would be worth.

    Args:
        files: The files to learn from, as `train` takes them.
        minutes: The time that the tiny trainings take.
        out: Where to keep the forecast, which `manyheads train --plan` compares with what came true.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.
        tell: Called with a line for every training.

    Raises:
        ManyheadsError: If the files cannot be read, or have too few pairs, or labels instead of sentences.
    """
    deadline = time.perf_counter() + 60 * minutes
    tell = tell or (lambda _: None)
    recipe = _recipe(files)
    with tempfile.TemporaryDirectory(prefix="manyheads-plan-") as folder:
        bench = _Bench.of(recipe, Path(folder), choose_device(device), tell)
        runs: list[TinyRun] = []
        for number, share in enumerate(SHARES):
            left = max(0.0, deadline - time.perf_counter())
            seconds = max(LEAST_SECONDS, TRAINED * left * share.time / sum(one.time for one in SHARES[number:]))
            runs.append(bench.run(number, share, seconds))
            tell(f"{number + 1} of {len(SHARES)} · {runs[-1]} · about {duration(left - seconds / TRAINED)} left")
        forecast = bench.forecast(runs, minutes)
    if out is not None:
        forecast.save(Path(out))
    return forecast


def _recipe(files: Files) -> TranslationRecipe:
    """Return the recipe that `train` would choose for the files, if its score can be forecast."""
    if files.both or files.start_from is not None:
        what = "a forecast is for one direction, and for a model that starts from nothing."
        raise ManyheadsError(what, cure="Leave the other options out.")
    recipe = files.recipe(())
    if recipe.metric not in SCORES:
        what = f"only BLEU and chrF can be forecast, and these texts would be judged by {recipe.metric}."
        raise ManyheadsError(what, where=str(files.pairs or files.source))
    return recipe


@dataclass(frozen=True)
class _Bench:
    """What tiny runs share: the data with its pieces, and the speed of this machine."""

    task: TranslationTask
    pairs: list[Pair]
    valid: Path
    folder: Path
    device: torch.device
    pace: Pace

    @classmethod
    def of(cls, recipe: TranslationRecipe, folder: Path, device: torch.device, tell: Tell) -> _Bench:
        """Read the data and measure the speed."""
        corpora = open_corpora(recipe.data)
        pairs, held_out = [pair for corpus in corpora.train for pair in corpus.pairs()], list(corpora.valid.pairs())
        if len(pairs) < FEWEST_PAIRS:
            what = f"a forecast needs at least {FEWEST_PAIRS:,} pairs to learn from, and there are {len(pairs):,}."
            raise ManyheadsError(what, where=corpora.train[0].origin())
        valid = folder / "valid.jsonl"
        write_pairs(held_out[: recipe.validation.sentences], valid)
        threads = thread_count(recipe.training.threads)
        task = TranslationTask.prepare(recipe, RunFolder(folder / "all"), Machine(threads), lambda _: None)
        pace = fastest_pace(task, threads=threads, seconds=SHORTEST_PROBE, device=device, tell=lambda _: None)
        tell(f"{len(pairs):,} pairs, learned from at {pace}")
        return cls(task, pairs, valid, folder, device, pace)

    def run(self, number: int, share: Share, seconds: float) -> TinyRun:
        """Train a tiny model, and return what it reached."""
        pairs = slice_of(self.pairs, self._count(share.epochs, seconds))
        corpus = write_pairs(pairs, self.folder / f"pairs-{number}.jsonl")
        files = Files(pairs=corpus["pairs"], valid_pairs=self.valid, columns=Columns(**COLUMNS))
        run = RunFolder(self.folder / f"run-{number}")
        run.begin(self._tiny(files, share.scale, seconds))
        run.write_tokenizers(self.task.tokenizers)
        reporter = Reporter(quiet=True)
        sizes = [f"model.{name}={value}" for name, value in share.scale._asdict().items()]  # which `train` then keeps
        train(files=files, out=run.path, changes=sizes, device=self.device.type, progress=reporter)
        if reporter.outcome == "interrupted":
            raise KeyboardInterrupt
        return self._measured(run, len(pairs))

    def _count(self, epochs: int, seconds: float) -> int:
        """Return the number of pairs that are learned from so often in a time; 0 times means all pairs."""
        if not epochs:
            return len(self.pairs)
        fitting = round(self.pace.tokens_per_second * seconds / epochs / self._tokens_per_pair)
        return max(FEWEST_PAIRS // 4, min(len(self.pairs) // 2, fitting))

    @property
    def _tokens_per_pair(self) -> float:
        """The mean number of target tokens."""
        return self.task.store.tokens("target") / len(self.task.store)

    def _tiny(self, files: Files, scale: Scale, seconds: float) -> TranslationRecipe:
        """Return the recipe for all pairs with other data, another size and time, and validation by loss alone."""
        whole, data = self.task.recipe, files.recipe(()).data
        languages = {name: getattr(whole.data, name) for name in ("source_language", "target_language")}
        training = {
            "minutes": seconds / 60,
            "threads": self.pace.threads,
            "precision": self.pace.precision,
            "products": self.pace.products,
        }
        return whole.model_copy(
            update={
                "data": data.model_copy(update=languages),
                "model": whole.model.model_copy(update=scale._asdict()),
                "training": whole.training.model_copy(update=training),
                "validation": whole.validation.model_copy(update={"metric": "loss", "samples": 0}),
            }
        )

    def _measured(self, run: RunFolder, pairs: int) -> TinyRun:
        """Return what a run has reached on the pairs that are held out."""
        recipe, metric = run.recipe_for(TranslationRecipe), self.task.recipe.metric
        found = evaluate(run.path, pairs=self.valid, columns=COLUMNS, metrics=[metric], device=self.device.type, beam=1)
        return TinyRun(
            width=recipe.model.width,
            parameters=self._parameters(recipe),
            pairs=pairs,
            tokens=round(recipe.training.steps * self.pace.tokens_per_update),
            loss=math.log(found["perplexity"]),
            score=found[metric],
        )

    def _parameters(self, recipe: TranslationRecipe) -> int:
        """Return the parameters of the layers of a recipe's model."""
        return layer_parameters(build_model(self.task.with_recipe(recipe).config, device="meta"))

    def forecast(self, runs: Sequence[TinyRun], minutes: float) -> Forecast:
        """Return what follows from tiny runs."""
        recipe, inputs = self.task.recipe, self.task.run.inputs()
        assert inputs is not None, "the data was prepared"
        outlook, pairs = Outlook.of(runs, recipe.metric), len(self.pairs)
        most = MOST_EPOCHS * self._tokens_per_pair
        sizes = (recipe.model.model_copy(update=scale._asdict()) for scale in SCALES)
        parameters = [self._parameters(recipe.model_copy(update={"model": model})) for model in sizes]
        scores = [float(np.median(outlook.score(size, pairs, most * pairs))) for size in parameters]
        enough = next(number for number, score in enumerate(scores) if max(scores[number:]) - score < GAIN)
        return Forecast(
            name=recipe.name,
            data=checksums(inputs.files),
            pairs=pairs,
            metric=recipe.metric,
            minutes=minutes,
            runs=tuple(runs),
            expected=tuple(self._expected(outlook)),
            enough=SCALES[enough].width,
            is_largest=enough == len(SCALES) - 1,
        )

    def _expected(self, outlook: Outlook) -> Iterator[Expected]:
        """Yield what the sizes that `train` would choose for some times would reach."""
        paces: dict[int, Pace] = {}
        for hours in HOURS:
            seconds, pairs = 3600 * hours * UPDATES, len(self.pairs)
            chosen = ChosenFitting(frozenset()).model(self.task, seconds * self.pace.flops_per_second)
            assert isinstance(chosen, TranslationRecipe)
            parameters = self._parameters(chosen)
            if parameters not in paces:
                paces[parameters] = self._pace_of(chosen)
            tokens = seconds * paces[parameters].tokens_per_second
            most = MOST_EPOCHS * self._tokens_per_pair  # for each pair
            score = outlook.score(parameters, pairs, min(tokens, most * pairs))
            more = outlook.score(parameters, pairs + MORE, min(tokens, most * (pairs + MORE)))
            yield Expected(
                hours=hours,
                width=chosen.model.width,
                parameters=parameters,
                tokens=round(min(tokens, most * pairs)),
                score=estimate(score),
                more=estimate(more - score),
            )

    def _pace_of(self, recipe: TranslationRecipe) -> Pace:
        """Return how fast this machine trains another size."""
        pace = self.pace
        return measure_pace(
            self.task.with_recipe(recipe),
            threads=pace.threads,
            precision=pace.precision,
            products=pace.products,
            seconds=SHORTEST_PROBE,
            device=self.device,
        )
