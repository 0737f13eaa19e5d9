"""Searches that can be looked at: what is recorded belongs to the hypotheses they return.

A search drops sentences and reorders beams as it goes. Instead of following every row through that, nobody looks while
it runs, and the best hypotheses are decoded once more for whoever is recording. `step` after `step` equals `decode`, so
these are the weights with which they were found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import torch

from manyheads.attention.recording import unobserved
from manyheads.decoding.search.hypothesis import Hypothesis, Special
from manyheads.models.interface import SequenceToSequence, Tokens

Search = TypeVar("Search", bound=Callable[..., Any])


def observable(search: Search) -> Search:
    """Make a search show its best hypotheses, once it has them, to whoever records the model."""

    @functools.wraps(search)
    def shown(model: SequenceToSequence, source: Tokens, *, special: Special, **options: Any) -> Any:  # noqa: ANN401
        """Search unobserved, then show."""
        with unobserved(model) as awaited:
            found = search(model, source, special=special, **options)
        if awaited:
            best: list[Hypothesis] = [one[0] if isinstance(one, list) else one for one in found]
            show(model, source, special, [one.tokens for one in best])
        return found

    return cast(Search, shown)


@torch.inference_mode()
def show(model: SequenceToSequence, source: Tokens, special: Special, outputs: Sequence[Sequence[int]]) -> None:
    """Decode given outputs, one per source row, so that an observer sees them."""
    shifted = [[special.start, *tokens[:-1]] for tokens in outputs]
    target = Tokens.pad(shifted, padding=special.pad, device=source.ids.device)
    model.decode(target.ids, model.encode(source))
