"""Runs of a study: trained by the library's own function, and continued where they were stopped."""

from __future__ import annotations

from pathlib import Path

from manyheads.config.recipe import RecipeBase
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.train import train


def trained(recipe: RecipeBase, folder: Path) -> RunFolder:
    """Train a recipe to its end in a folder, and return the run.

    Ctrl-C ends a training with everything saved, and the study with it: what is not complete is not measured.
    """
    assert recipe.training.threads == 1, "the items of a study take one thread each"
    reporter = Reporter(quiet=True)
    run = train(recipe, out=folder, device="cpu", progress=reporter)
    if reporter.outcome == "interrupted":
        raise KeyboardInterrupt
    return run
