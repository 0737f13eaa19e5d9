"""The published files of a run folder: `model.safetensors`, the weights to use, and `card.md`, which describes them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.atomic import write_file
from manyheads.runs.card import card_text
from manyheads.runs.checkpoints import Progress, checkpoint_folder
from manyheads.runs.weights import Arrays, weights_bytes
from manyheads.tasks.interface import Task, Validation
from manyheads.training.state.checkpoint import published_weights


class Publisher:
    """Writes a run's model and its card."""

    def __init__(self, task: Task[Any, Any], *, parameters: int) -> None:
        self._task = task
        self._run = task.run
        self._parameters = parameters

    @property
    def has_model(self) -> bool:
        """Whether the run has a published model."""
        return self._run.weights_file.exists()

    def weights(self, arrays: Arrays) -> None:
        """Make these weights the run's model."""
        self._run.write_weights(weights_bytes(arrays))

    def best(self, progress: Progress, *, tell: Callable[[str], None]) -> None:
        """Publish the best checkpoint's weights, if there is one; a damaged checkpoint leaves the model unchanged."""
        if progress.best_step is None:
            return
        folder = checkpoint_folder(self._run.checkpoints, progress.best_step)
        if not folder.exists() and self.has_model:
            return
        try:
            weights = published_weights(folder)
        except ManyheadsError as error:
            if not self.has_model:
                raise
            tell(f"{error} It is the best checkpoint; the model is kept as it is.")
            return
        self.weights(weights)

    def card(self, validation: Validation, *, step: int) -> None:
        """Write the card of the model at a step."""
        recipe = self._task.recipe
        inputs = self._run.inputs()
        facts = {
            "model": f"{self._task.kind}, {self._parameters:,} parameters",
            **self._task.facts(),
            **({} if inputs is None else inputs.facts()),
            "step": f"{step:,} of {recipe.training.steps:,}",
            "command": shlex.join(["manyheads", "train", str(self._run.recipe_file), "--out", str(self._run.path)]),
        }
        scores = {score.name: _score_text(score) for score in (validation.score, *validation.others)}
        write_file(self._run.card_file, card_text(recipe, facts=facts, scores=scores))


def _score_text(score: Score) -> str:
    """Return a score with its signature, if it has one."""
    return f"{score.value:.2f}" + (f" ({score.signature})" if score.signature else "")
