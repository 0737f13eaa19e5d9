"""Runs of a study: trained by the library's own function, and continued where they were stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.runs.claim import claimed
from manyheads.runs.folder import RunFolder
from manyheads.runs.repair import check_to_train
from manyheads.tasks.interface import Machine, Tell
from manyheads.tasks.translation import TranslationTask, TranslationValidator
from manyheads.training.progress import Reporter
from manyheads.training.train import train
from manyheads.training.trainer import Outcome, Trainer

STACKS = ("encoder.", "decoder.")


def layer_parameters(model: nn.Module) -> int:
    """Return how many parameters the layers of an encoder and a decoder have: the N of scaling laws.

    Embeddings do not count, since they grow with the vocabulary.
    """
    return sum(one.numel() for name, one in model.named_parameters() if name.startswith(STACKS))


def trained(recipe: RecipeBase, folder: Path, *, tokenizers: Callable[[], Tokenizers] | None = None) -> RunFolder:
    """Train a recipe to its end in a folder, and return the run.

    Losses of runs on different data compare only if their pieces are the same: `tokenizers` makes those to use.
    Ctrl-C ends a training with everything saved, and the study with it: what is not complete is not measured.
    """
    assert recipe.training.threads == 1, "the items of a study take one thread each"
    run = RunFolder(folder)
    if tokenizers is not None and not Tokenizers.are_in(run.tokenizer_folder):
        run.begin(recipe)
        run.write_tokenizers(tokenizers())
    reporter = Reporter(quiet=True)
    train(recipe, out=folder, device="cpu", progress=reporter)
    _require_end(reporter.outcome)
    return run


def trained_with(change: Callable[[nn.Module], None], recipe: TranslationRecipe, folder: Path) -> dict[str, Any]:
    """Train a recipe to its end with a model that `change` has changed, and return the scores of its last validation.

    They are the loss without label smoothing, so that recipes with and without it compare, and the recipe's metrics.
    The folder is a run folder, but only this function knows the model in it.
    """
    reporter = Reporter(quiet=True)
    run = RunFolder(folder)
    with claimed(folder):
        check_to_train(folder, tell=reporter.note)
        task = ChangedTask.prepare(recipe, run, Machine(), reporter.note)
        task.change = change
        trainer = Trainer(task, device=torch.device("cpu"), reporter=reporter)
        _require_end(trainer.train())
    *_, last = (entry for entry in run.metrics() if entry["kind"] == "validation")
    return {**last, "parameters": sum(parameter.numel() for parameter in trainer.model.parameters())}


class ChangedTask(TranslationTask):
    """Translation by a model that is changed before it learns, in a way that recipes do not offer."""

    change: Callable[[nn.Module], None]

    def new_model(self, *, device: torch.device, tell: Tell) -> nn.Module:
        """Return the changed model; new weights follow from the seed, too."""
        model = super().new_model(device=device, tell=tell)
        self.change(model)
        return model

    def validator(self, model: nn.Module) -> TranslationValidator:
        """Return what measures a model, its loss without label smoothing."""
        training = self.recipe.training.model_copy(update={"label_smoothing": 0.0})
        unsmoothed = self.with_recipe(self.recipe.model_copy(update={"training": training}))
        return super(ChangedTask, unsmoothed).validator(model)


def _require_end(outcome: Outcome | None) -> None:
    """End the study if the user has interrupted a training."""
    if outcome == "interrupted":
        raise KeyboardInterrupt
