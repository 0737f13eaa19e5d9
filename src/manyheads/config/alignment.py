"""Which attention aligns the words of a translation with the words of its source.

A decoder reads a target token one step after it has written it. Chen et al. (2020) found that attention aligns a token
better at the step that reads it (`input`) than at the step that writes it (`output`), and show the third of six layers.
The last layer already looks for the next token. So, by default, it is the middle layer at the input step, or the only
layer at the output step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from manyheads.config.values import Positive, Settings
from manyheads.errors import ManyheadsError

Step = Literal["input", "output"]


@dataclass(frozen=True)
class AligningHeads:
    """The heads of one layer whose mean aligns, as indices, and the step at which it does."""

    layer: int
    heads: tuple[int, ...]
    step: Step


class AlignmentSettings(Settings):
    """Which attention aligns the words of a translation with those of its source."""

    layer: Positive | None = Field(
        None, description="Layer of the decoder, counted from 1. By default, the middle one: 1 of 2, 3 of 6."
    )
    heads: tuple[Positive, ...] | None = Field(
        None, min_length=1, description="Heads of the layer whose mean is taken, counted from 1. By default, all."
    )
    step: Step | Literal["auto"] = Field(
        "auto",
        description="The step that aligns a token: the one that reads it (input) or the one that writes it (output); "
        "auto for input, but output in the last layer.",
    )

    def resolved(self, *, layers: int, heads: int) -> AligningHeads:
        """Return the heads that align in a decoder of this size; raise an error if it does not have them."""
        layer = self.layer or (layers + 1) // 2
        _require(layer, layers, "layer")
        chosen = sorted(set(self.heads or range(1, heads + 1)))
        _require(chosen[-1], heads, "head")
        step = default_step(last=layer == layers) if self.step == "auto" else self.step
        return AligningHeads(layer - 1, tuple(head - 1 for head in chosen), step)


def default_step(*, last: bool) -> Step:
    """Return the step that aligns in the last layer of a decoder, or in another."""
    return "output" if last else "input"


def _require(number: int, count: int, what: str) -> None:
    """Raise an error if there is no layer or head of this number."""
    if number > count:
        raise ManyheadsError(
            f"there is no {what} {number}.",
            where=f"recipe.yaml: decoding.alignment.{what if what == 'layer' else 'heads'}",
            cure=f"{what.capitalize()}s are counted from 1: the decoder has {count}.",
        )
