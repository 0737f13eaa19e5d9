"""A model and intervals that fit the time, for recipes that were chosen for their data.

In a number of FLOPs, a larger model learns from fewer tokens. The best size is the one that reads `TOKENS_PER_WEIGHT`
target tokens for each of its weights. (Hoffmann et al., 2022, found 20 for language models that read large corpora
once; in minutes, and in several epochs of a small corpus, fewer are better: docs/defaults.md.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from manyheads.config.recipe import RecipeBase
from manyheads.models.build import build_model
from manyheads.tasks.interface import OPERATIONS, PASSES, Task

TOKENS_PER_WEIGHT = 3.0
MOST_EPOCHS = 100  # more do not help
SAMPLED_BATCHES = 8  # whose FLOPs are counted
VALIDATIONS = 8
FEWEST_SENTENCES, SENTENCES_PER_MINUTE, MOST_SENTENCES = (
    100,
    50,
    500,
)  # translated in each, so that they take little time
WARM_UP = 0.05  # of all steps


class Scale(NamedTuple):
    """The sizes of a model, from the smallest to the largest."""

    width: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    feed_forward: int


SCALES = (
    Scale(96, 3, 3, 2, 384),
    Scale(128, 4, 3, 3, 384),
    Scale(192, 4, 4, 3, 576),
    Scale(256, 4, 5, 3, 768),
    Scale(320, 5, 6, 3, 1024),
    Scale(384, 6, 6, 4, 1280),
    Scale(512, 8, 6, 6, 1536),
)


class Dropout(NamedTuple):
    """The dropout of a training of up to a number of epochs."""

    epochs: float
    probability: float


DROPOUTS = (Dropout(4, 0.0), Dropout(12, 0.1), Dropout(40, 0.2), Dropout(float("inf"), 0.3))


@dataclass(frozen=True)
class ChosenFitting:
    """Fits a chosen recipe to the time; keys of the recipe that its user gave stay as they are."""

    given: frozenset[str]  # such as model.width

    @classmethod
    def with_changes(cls, changes: Sequence[str]) -> ChosenFitting:
        """Leave the keys alone that changes such as `model.width=64` name."""
        return cls(frozenset(change.split("=", 1)[0].strip() for change in changes))

    def model(self, task: Task[Any, Any], flops: float) -> RecipeBase:
        """Return the task's recipe with the model that is best learned in a number of FLOPs."""
        best: RecipeBase = task.recipe
        if not self._is_free(best):
            return best
        for scale in SCALES:
            larger = self._resized(best, scale)
            tokens_per_weight = flops / flops_per_token(task.with_recipe(larger)) / _weights(task.with_recipe(larger))
            if scale is SCALES[0] or tokens_per_weight >= TOKENS_PER_WEIGHT:
                best = larger
        return best

    def intervals(self, task: Task[Any, Any], steps: int) -> RecipeBase:
        """Return the task's recipe with as many of these steps as are worth taking, and intervals that suit them.

        A checkpoint is saved about every minute, and at every validation.
        """
        recipe: RecipeBase = task.recipe
        per_epoch = max(1, task.batches_at(0).per_epoch // recipe.training.accumulate)
        steps = min(steps, MOST_EPOCHS * per_epoch)
        dropout = next(one.probability for one in DROPOUTS if steps <= one.epochs * per_epoch)
        minutes = recipe.training.minutes or 1.0
        every = max(1, -(-steps // VALIDATIONS))
        saving = max(1, min(every, round(steps / minutes)))
        schedule = {"warmup": round(WARM_UP * steps)}
        sentences = round(min(MOST_SENTENCES, max(FEWEST_SENTENCES, SENTENCES_PER_MINUTE * minutes)))
        recipe = self._updated(recipe, "model", {"dropout": dropout})
        recipe = self._updated(recipe, "validation", {"every": every, "sentences": sentences})
        training = self._updated(recipe, "training", {"steps": steps, "checkpoint_every": saving}).training
        settings = training.schedule.model_copy(update=self._free(schedule, "training.schedule"))
        return recipe.model_copy(update={"training": training.model_copy(update={"schedule": settings})})

    def _is_free(self, recipe: RecipeBase) -> bool:
        """Whether the model has the sizes of a scale, and its user set none of them."""
        model = getattr(recipe, "model", None)
        sizes = {"model", "model.kind", "model.preset", *(f"model.{name}" for name in Scale._fields)}
        return not sizes & self.given and any(_has(model, scale) for scale in SCALES)

    def _resized(self, recipe: RecipeBase, scale: Scale) -> RecipeBase:
        """Return a recipe with a model of another size."""
        return self._updated(recipe, "model", scale._asdict())

    def _updated(self, recipe: RecipeBase, section: str, values: dict[str, Any]) -> RecipeBase:
        """Return a recipe with other values in a section, as far as they are not given."""
        part = getattr(recipe, section).model_copy(update=self._free(values, section))
        return recipe.model_copy(update={section: part})

    def _free(self, values: dict[str, Any], section: str) -> dict[str, Any]:
        """Return the values of keys that are not given."""
        return {} if section in self.given else {k: v for k, v in values.items() if f"{section}.{k}" not in self.given}


def flops_per_token(task: Task[Any, Any]) -> float:
    """Return the FLOPs of training on a target token, counted on a few batches; no memory is needed for the model."""
    objective = task.objective(build_model(task.config, device="meta"))
    batches = [task.batches_at(0)[number] for number in range(SAMPLED_BATCHES)]
    return sum(map(objective.flops, batches)) / sum(map(objective.count, batches))


def _weights(task: Task[Any, Any]) -> float:
    """Return how many weights a target token is multiplied with, those of its share of the source among them."""
    return flops_per_token(task) / (OPERATIONS * PASSES)


def _has(model: Any, scale: Scale) -> bool:  # noqa: ANN401 (any model's settings)
    """Whether a model has the sizes of a scale."""
    return all(getattr(model, name, None) == size for name, size in scale._asdict().items())
