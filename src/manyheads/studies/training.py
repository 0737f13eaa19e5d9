"""Runs of a study: trained by the library's own function, and continued where they were stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch import nn

from manyheads.config.recipe import RecipeBase
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.train import train

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
    if reporter.outcome == "interrupted":
        raise KeyboardInterrupt
    return run
