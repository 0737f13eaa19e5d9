"""What the training loop leaves to a task: the model, the batches, what is learned from them, and how it is judged.

`preparation` has the one for translation, `bert_preparation` those for models that read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import nn

from manyheads.config.recipe import AnyRecipe
from manyheads.runs.folder import RunFolder
from manyheads.training.objectives import Objective
from manyheads.training.validation import Findings


class Endless(Protocol):
    """The batches of a run, counted from 0 through all epochs; each task has batches of its own kind."""

    def __getitem__(self, index: int) -> Any:  # noqa: ANN401
        """Return a batch, the same whenever it is asked for."""
        ...


class Judge(Protocol):
    """Whatever can say how good a model is."""

    def run(self) -> Findings:
        """Measure the model as it is now."""
        ...


class Assignment(Protocol):
    """Everything about a run that depends on its task."""

    @property
    def recipe(self) -> AnyRecipe:
        """The recipe."""
        ...

    @property
    def run(self) -> RunFolder:
        """Where everything is written."""
        ...

    def batches_at(self, step: int) -> Endless:
        """Return what update `step`, counted from 0, learns from."""
        ...

    @property
    def kind(self) -> str:
        """What the model is, for the card."""
        ...

    @property
    def width(self) -> int:
        """The model's width, by which the paper's schedule goes."""
        ...

    @property
    def try_it(self) -> str:
        """The command that uses the model."""
        ...

    def facts(self) -> dict[str, str]:
        """Return what the card says of the data."""
        ...

    def fresh_model(self, *, device: torch.device, tell: Callable[[str], None]) -> nn.Module:
        """Return the model as training starts with it."""
        ...

    def bare_model(self) -> nn.Module:
        """Return a model of the same shape, to be filled."""
        ...

    def objective(self, model: nn.Module) -> Objective:
        """Return what is learned from a batch."""
        ...

    def validator(self, model: nn.Module) -> Judge:
        """Return what measures a model on the validation data."""
        ...

    def flops(self, batch: Any) -> int:  # noqa: ANN401
        """Return the FLOPs of learning from a batch."""
        ...

    def first_text(self, batch: Any) -> str:  # noqa: ANN401
        """Return the first text of a batch, for messages."""
        ...
