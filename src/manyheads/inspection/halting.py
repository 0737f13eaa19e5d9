"""How many steps each token takes in a model with recurrence in depth, and how a run's halting is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from manyheads.errors import ManyheadsError
from manyheads.inspection.views import Array, rounded
from manyheads.layers.depth import Computed, DepthRecurrence


@dataclass(frozen=True)
class Halting:
    """The tokens of one side, the step N at which each halts, and its ponder cost N + R."""

    tokens: list[str]
    steps: list[int]
    ponder: Array

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {"tokens": self.tokens, "steps": self.steps, "ponder": rounded(self.ponder)}


@dataclass(frozen=True)
class HaltingView:
    """When the tokens of a text halt in the encoder, and those of its translation in the decoder.

    A token of the target is the decoder's input at its position. `most` is the largest number of steps. A language
    model has no source: its text is the target. One that answers a question about facts has no target.
    """

    text: str
    translation: str
    most: int
    source: Halting | None
    target: Halting | None

    @property
    def title(self) -> str:
        """What a page is called."""
        return f"Steps in depth: {self.text}"

    @property
    def sides(self) -> dict[str, Halting]:
        """Both sides by name."""
        sides = {"encoder": self.source, "decoder": self.target}
        return {name: side for name, side in sides.items() if side is not None}

    def __str__(self) -> str:
        lines = []
        for name, side in self.sides.items():
            width = max(map(len, (name, *side.tokens)))
            lines.append(f"{name.ljust(width)}  steps  ponder cost")
            for token, steps, ponder in zip(side.tokens, side.steps, side.ponder, strict=True):
                lines.append(f"{token.ljust(width)}  {steps:5d}  {ponder:11.2f}")
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "text": self.text,
            "translation": self.translation,
            "most": self.most,
            **{name: side.to_json() for name, side in self.sides.items()},
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import halting_fragment

        return halting_fragment(self)


def require_halting(model: nn.Module) -> int:
    """Return the largest number of steps of a model whose positions halt; raise an error if they do not."""
    for part in model.modules():
        if isinstance(part, DepthRecurrence) and part.halting is not None:
            return part.steps
    raise ManyheadsError(
        "every position of this model takes the same number of steps.",
        cure="A model with kind: universal and halting: {} chooses it at each position.",
    )


@contextmanager
def record_halting(model: nn.Module) -> Iterator[dict[str, Computed]]:
    """Record what every recurrence in depth inside a model computes during the block, by the name of the module."""
    recorded: dict[str, Computed] = {}

    def recorder(name: str) -> Any:  # noqa: ANN401 (a hook as PyTorch calls it)
        """Return a hook that records under a name."""
        return lambda part, inputs, computed: recorded.update({name: computed})

    parts = [(name, part) for name, part in model.named_modules() if isinstance(part, DepthRecurrence)]
    hooks = [part.register_forward_hook(recorder(name)) for name, part in parts]
    try:
        yield recorded
    finally:
        for hook in hooks:
            hook.remove()
