"""Tiny models and batches that the tests of several rooms share."""

import functools
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor, nn

from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.recipe import RecipeBase
from manyheads.config.special import SpecialIds
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.decoding.search.rescoring import token_log_probabilities
from manyheads.models.interface import SequenceToSequence, Tokens
from manyheads.models.transformer import Transformer
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.tasks.interface import Machine, Task

torch.set_num_threads(1)  # these tensors are too small to share out

VOCABULARY = 11
SPECIAL = SpecialIds(start=2, end=3, pad=0)

LAW = settings(max_examples=25, deadline=None, derandomize=True)  # the same examples every time, on busy machines too

words = st.integers(min_value=4, max_value=VOCABULARY - 1)
sentences = st.lists(words, min_size=1, max_size=6)


def tiny_settings(**changes) -> TransformerSettings:
    sizes = {"width": 16, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, "feed_forward": 32, "dropout": 0.0}
    return TransformerSettings(**{**sizes, **changes})


@functools.cache
def tiny(norm: str = "pre", positions: str = "sinusoidal", seed: int = 12) -> Transformer:
    """Return a model whose outputs vary in words and in length with what it reads; nobody may change it."""
    where = {"kind": positions, "maximum": 64, "clip": 2, "buckets": 8, "reach": 6}  # so short that sentences exceed it
    shape = tiny_settings(norm=norm, tie="none", output_bias=True, positions=where)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    stir(model, seed=seed, gain=1.5)
    with torch.no_grad():
        model.bias[SPECIAL.end] -= 1.0
    return model.eval()


def stir(module: nn.Module, *, seed: int, gain: float = 1.0) -> nn.Module:
    """Draw every parameter anew: biases that are zero and norms that are one would hide mistakes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            drawn = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(drawn * gain * parameter[0].numel() ** -0.5)
            else:
                parameter.copy_(drawn * 0.3 + (1.0 if name.endswith("weight") else 0.0))
    return module


def prepared(recipe: RecipeBase, run: RunFolder, tell: Callable[[str], None] = lambda _: None) -> Task:
    """Prepare a run of whatever task, on one thread."""
    return task_for(recipe).prepare(recipe, run, Machine(), tell)


def without_checksums(run: Path) -> Path:
    """Make a run folder one of an earlier version, which neither notices nor repairs what changes in it."""
    (run / "checksums.json").unlink(missing_ok=True)
    shutil.rmtree(run / "copies", ignore_errors=True)
    return run


def batch_of(rows: Sequence[Sequence[int]], *, ended: bool = True) -> Tokens:
    """Lay rows out as a source batch, each with its end token."""
    return Tokens.pad([[*row, *([SPECIAL.end] if ended else [])] for row in rows], padding=SPECIAL.pad)


def rescore(
    model: SequenceToSequence, source: Sequence[int], found: Sequence[Hypothesis], *, special: SpecialIds = SPECIAL
) -> list[float]:
    """Return the log-probabilities of hypotheses for one source by `decode`, all positions at once."""
    sources = Tokens.pad([[*source, special.end]] * len(found), padding=special.pad)
    targets = Tokens.pad([one.tokens for one in found], padding=special.pad)
    likely = token_log_probabilities(model, sources, targets, start=special.start)
    return likely.double().sum(dim=1).tolist()


def greatest_difference(first: Tensor, second: Tensor) -> float:
    assert first.shape == second.shape
    return float((first - second).detach().abs().max())
