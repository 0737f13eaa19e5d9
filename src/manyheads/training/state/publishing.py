"""What a run folder shows to the world: `model.safetensors`, the weights that translate, and `card.md` about them."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.atomic import write_file
from manyheads.runs.card import card_text
from manyheads.runs.weights import Arrays, weights_bytes
from manyheads.training.assignment import Assignment
from manyheads.training.state.checkpoint import Progress, checkpoint_folder, published_weights
from manyheads.training.validation import Findings


class Publisher:
    """Writes a run's model and its card."""

    def __init__(self, assignment: Assignment, *, parameters: int) -> None:
        self._assignment = assignment
        self._run = assignment.run
        self._parameters = parameters

    @property
    def has_model(self) -> bool:
        """Whether there is a model to translate with."""
        return self._run.weights_file.exists()

    def weights(self, arrays: Arrays) -> None:
        """Make these weights the run's model."""
        write_file(self._run.weights_file, weights_bytes(arrays))

    def best(self, progress: Progress, *, tell: Callable[[str], None]) -> None:
        """Make the best checkpoint's weights the run's model, if there is one; a damaged one leaves the model alone."""
        if progress.best_step is None:
            return
        folder = checkpoint_folder(self._run.checkpoints, progress.best_step)
        if not folder.exists():
            return
        try:
            weights = published_weights(folder)
        except ManyheadsError as error:
            if not self.has_model:
                raise
            tell(f"{error} It is the best checkpoint; the model is kept as it is.")
            return
        self.weights(weights)

    def card(self, findings: Findings, *, step: int) -> None:
        """Write the card of a model of some step."""
        recipe = self._assignment.recipe
        facts = {
            "model": f"{self._assignment.kind}, {self._parameters:,} parameters",
            **self._assignment.facts(),
            "step": f"{step:,} of {recipe.training.steps:,}",
            "command": shlex.join(["manyheads", "train", str(self._run.recipe_file), "--out", str(self._run.path)]),
        }
        scores = {score.name: _score_text(score) for score in (findings.score, *findings.others)}
        write_file(self._run.card_file, card_text(recipe, facts=facts, scores=scores))


def _score_text(score: Score) -> str:
    """Return a score with its signature, if it has one."""
    return f"{score.value:.2f}" + (f" ({score.signature})" if score.signature else "")
