"""Searches that start from sources. The searches themselves take a decoder state of any origin.

A search drops sentences and reorders beams while it runs. So recording is off during the search, and the best
hypotheses are decoded again for an observer: decoding in steps equals `decode`, so these are the weights of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from manyheads.attention.recording import unobserved
from manyheads.config.special import SpecialIds
from manyheads.decoding.search.beam import beam_search
from manyheads.decoding.search.greedy import greedy_search
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.models.interface import SequenceToSequence, State, Tokens

Memory = TypeVar("Memory")


def greedy_from_source(
    model: SequenceToSequence[Memory, State],
    source: Tokens,
    *,
    special: SpecialIds,
    limits: Sequence[int],
    **options: Any,  # noqa: ANN401 (those of `greedy_search`)
) -> list[Hypothesis]:
    """Return one hypothesis per source row [B, S], by `greedy_search`."""

    def search(state: State) -> list[list[Hypothesis]]:
        """Search from the state before the first token."""
        hypotheses = greedy_search(model, state, special=special, limits=limits, **options)
        return [[hypothesis] for hypothesis in hypotheses]

    return [hypothesis for (hypothesis,) in _search(model, source, search, special=special, hypotheses=1)]


def beam_from_source(
    model: SequenceToSequence[Memory, State],
    source: Tokens,
    *,
    special: SpecialIds,
    limits: Sequence[int],
    beam: int = 4,
    **options: Any,  # noqa: ANN401 (those of `beam_search`)
) -> list[list[Hypothesis]]:
    """Return up to `beam` hypotheses, best first, for each source row [B, S], by `beam_search`."""

    def search(state: State) -> list[list[Hypothesis]]:
        """Search from the state before the first token."""
        return beam_search(model, state, special=special, limits=limits, beam=beam, **options)

    return _search(model, source, search, special=special, hypotheses=beam)


@torch.inference_mode()
def _search(
    model: SequenceToSequence[Memory, State],
    source: Tokens,
    search: Callable[[State], list[list[Hypothesis]]],
    *,
    special: SpecialIds,
    hypotheses: int,
) -> list[list[Hypothesis]]:
    """Search without observers, then decode the best hypotheses with them."""
    with unobserved(model) as is_observed:
        results = search(model.start(model.encode(source), hypotheses=hypotheses))
    if is_observed:
        shifted = [[special.start, *best.tokens[:-1]] for best, *_ in results]
        target = Tokens.pad(shifted, padding=special.pad, device=source.ids.device)
        model.decode(target.ids, model.encode(source))
    return results
