"""What is said at the end of a training: the score with its interval, good and bad samples, and what to do next."""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.metrics.comparison import compare
from manyheads.metrics.error_rates import matches, symbol_errors
from manyheads.metrics.scores import Score
from manyheads.runs.loading import fill_model
from manyheads.runs.weights import read_weights
from manyheads.tasks.interface import Outputs, Sample, Task

if TYPE_CHECKING:
    from manyheads.training.trainer import Outcome, Trainer

SAMPLES = 3  # good ones, and bad ones
SUMMARISED: tuple[Outcome, ...] = ("finished", "stopped early", "out of time")


@dataclass(frozen=True)
class Summary:
    """The end of a training: the published model's score on the validation data, samples, and commands.

    `interval` has the bounds of the 95 % confidence interval of the score, by bootstrap over sentences. Tasks other
    than translation have neither interval nor samples. `commands` has those to use, to serve and to continue the model.
    """

    score: Score
    interval: tuple[float, float] | None = None
    examples: int = 0
    good: tuple[Sample, ...] = ()
    bad: tuple[Sample, ...] = ()
    commands: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join([self._score_line(), *_shown("Good", self.good), *_shown("Bad", self.bad), *self._next()])

    def _score_line(self) -> str:
        """Return the score as a sentence."""
        if self.interval is None:
            return f"Validation score of the model: {self.score}."
        low, high = self.interval
        return (
            f"Validation score of the model: {self.score}, 95 % interval {low:.2f} to {high:.2f} "
            f"({self.examples:,} sentences)."
        )

    def _next(self) -> list[str]:
        """Return a line for each command."""
        return [f"To {purpose}: {command}" for purpose, command in self.commands.items()]


def summary_of(trainer: Trainer, outcome: Outcome) -> Summary:
    """Return the summary of a training that has just ended; the published model is validated once more."""
    task, run = trainer.task, trainer.run
    fill_model(trainer.measured, read_weights(run.weights_file), where=str(run.weights_file))
    validation = trainer.validator.run()
    commands = _commands(task, outcome)
    outputs = validation.outputs
    if outputs is None:
        return Summary(validation.score, commands=commands)
    interval = _interval(outputs) if validation.score.name == outputs.metric else None
    good, bad = samples_of(outputs, seed=task.recipe.seed)
    return Summary(validation.score, interval, len(outputs.texts), good, bad, commands)


def samples_of(outputs: Outputs, *, seed: int) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Return some of the best quarter of the outputs and some of the worst, drawn by the seed; none of these is right.

    Outputs are compared by their edits if the metric is an error rate of symbols or words, otherwise by their chrF.
    """
    quality = _quality(outputs)
    distinct = {source: number for number, source in enumerate(outputs.sources)}
    ranked = sorted(distinct.values(), key=lambda number: (quality[number], number))
    right = matches(outputs.texts, outputs.references)
    quarter = -(-len(ranked) // 4)
    bad = [number for number in ranked[:quarter] if not right[number]]
    good = [number for number in ranked[-quarter:] if number not in bad]
    chance = random.Random(seed)
    good, bad = (sorted(chance.sample(pool, min(SAMPLES, len(pool)))) for pool in (good, bad))
    return tuple(map(outputs.sample, good)), tuple(map(outputs.sample, bad))


def _quality(outputs: Outputs) -> list[float]:
    """Return how good every output is: more is better."""
    if outputs.metric in ("symbol_error_rate", "word_error_rate"):
        return [-edits / max(1, symbols) for edits, symbols in symbol_errors(outputs.texts, outputs.references)]
    from manyheads.metrics.overlap import sentence_chrf

    return sentence_chrf(outputs.texts, outputs.references, lowercase=outputs.options.lowercase)


def _interval(outputs: Outputs) -> tuple[float, float]:
    """Return the bounds of the 95 % confidence interval of the deciding metric."""
    (score,) = compare(outputs.metric, [outputs.texts], outputs.references, outputs.options)
    return score.low, score.high


def _commands(task: Task[Any, Any], outcome: Outcome) -> dict[str, str]:
    """Return the commands to use the model, to serve it if it translates, and to continue its training."""
    recipe, run = task.recipe, task.run
    commands = {"use it": task.command}
    if isinstance(recipe, TranslationRecipe):
        data = recipe.data
        named = data.directions or (data.source_language and data.target_language)
        commands["serve it"] = shlex.join(["manyheads", "serve", str(run.path) if named else f"en-de={run.path}"])
    minutes = recipe.training.minutes
    more = ["--set", f"training.steps={2 * recipe.training.steps}"] if minutes is None else []
    changes = {
        "finished": more or ["--max-minutes", f"{2 * (minutes or 0):g}"],
        "stopped early": ["--set", "validation.patience=0"],
    }
    words = ["manyheads", "train", str(run.recipe_file), "--out", str(run.path), *changes.get(outcome, [])]
    return {**commands, "continue": shlex.join(words)}


def _shown(title: str, samples: Sequence[Sample]) -> list[str]:
    """Return samples as lines, under a title."""
    lines = [f"    {one.source}\n  → {one.output}\n  = {one.reference}" for one in samples]
    return [f"{title}:", *lines] if lines else []
