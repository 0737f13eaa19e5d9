"""Beam search with the paper's length penalty (section 6.1).

At each step every live hypothesis of a sentence is extended by every token, and the best K extensions survive. An
extension by the end token is finished if it is among the best K. Finished hypotheses are ranked by penalised score. A
sentence is done when it has K of them and no live hypothesis would have a better score if it ended now, when no
hypothesis is live, or at its length limit. With K = 1 this is greedy search; with K as large as the number of prefixes
it is exhaustive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import torch
from torch import Tensor

from manyheads.config.special import SpecialIds
from manyheads.decoding.search.constraints import NO_CONSTRAINTS, Constraints
from manyheads.decoding.search.hypothesis import PAPER, Hypothesis, Penalty, make_hypothesis
from manyheads.models.interface import Autoregressive, Context, State

Watch = Callable[[Tensor, Tensor, Tensor, list[list[Hypothesis]]], None]
"""A callback after each step: the sentences still searched [N], the tokens of their live hypotheses [N, K, t], the
log-probabilities of these [N, K] (−∞ marks an empty place), and the finished hypotheses of each sentence."""


@dataclass
class _Live(Generic[State]):
    """The live hypotheses of the sentences still searched: N sentences, K hypotheses each."""

    state: State  # for N·K rows
    sentences: Tensor  # [N] which sentences they are
    written: Tensor  # [N, K, t] tokens so far
    totals: Tensor  # [N, K] log-probabilities; −∞ marks an empty place

    def keep(self, which: Tensor, beam: int) -> None:
        """Keep only some of the sentences [M]."""
        rows = (which[:, None] * beam + torch.arange(beam, device=which.device)).flatten()
        self.state = self.state.select(rows)
        self.sentences, self.written, self.totals = (
            self.sentences[which],
            self.written[which],
            self.totals[which],
        )


@torch.inference_mode()
def beam_search(
    model: Autoregressive[Context, State],
    state: State,
    *,
    special: SpecialIds,
    limits: Sequence[int],
    beam: int = 4,
    penalty: Penalty = PAPER,
    constraints: Constraints = NO_CONSTRAINTS,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """Return up to `beam` hypotheses, best first, for each sentence, at most `limits` [B] tokens long.

    The state has `beam` rows for each sentence: it is started with `hypotheses=beam`.
    """
    device = model.output_vectors.device
    live = _start(state, len(limits), beam, device)
    finished: list[list[Hypothesis]] = [[] for _ in limits]
    most = torch.tensor(list(limits), device=device)
    tokens = torch.full((len(limits) * beam,), special.start, device=device)
    while len(live.sentences):
        logits, live.state = model.step(tokens, live.state)
        values, places = _candidates(logits.log_softmax(dim=-1), live, constraints, special)
        vocabulary = logits.shape[-1]
        _collect(values, places, vocabulary, live, finished, special=special, penalty=penalty)
        _survive(values, places, vocabulary, live, end=special.end)
        if watch is not None:
            watch(live.sentences, live.written, live.totals, finished)
        complete = _settled(live, finished, penalty)
        dead = live.totals.isneginf().all(dim=1)
        full = live.written.shape[2] >= most[live.sentences]
        stopped = complete | dead | full
        if stopped.any():
            _give_up(torch.nonzero(full & ~complete)[:, 0], live, finished, special=special, penalty=penalty)
            live.keep(torch.nonzero(~stopped)[:, 0], beam)
        tokens = live.written[:, :, -1].flatten()
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)[:beam] for hypotheses in finished]


def _start(state: State, count: int, beam: int, device: torch.device) -> _Live[State]:
    """Return the K hypotheses of each sentence before the first token; only the first is alive."""
    assert len(state) == count * beam, "a beam search needs a state with `beam` rows for each sentence"
    totals = torch.full((count, beam), float("-inf"), device=device)
    totals[:, 0] = 0.0
    written = torch.empty(count, beam, 0, dtype=torch.long, device=device)
    return _Live(state, torch.arange(count, device=device), written, totals)


def _candidates(
    likely: Tensor, live: _Live[State], constraints: Constraints, special: SpecialIds
) -> tuple[Tensor, Tensor]:
    """Return the best 2K extensions of each sentence, best first: log-probabilities and places in K·V, each [N, 2K].

    2K because at most K of them end, so at least K remain live.
    """
    count, beam = live.totals.shape
    owners = live.sentences.repeat_interleave(beam)
    allowed = constraints.apply(likely, live.written.flatten(0, 1), owners, never=special.never)
    extended = (live.totals.flatten()[:, None] + allowed).view(count, -1)  # [N, K·V]
    best = extended.topk(min(2 * beam, extended.shape[1]), dim=1)
    return best.values, best.indices


def _collect(
    values: Tensor,
    places: Tensor,
    vocabulary: int,
    live: _Live[State],
    finished: list[list[Hypothesis]],
    *,
    special: SpecialIds,
    penalty: Penalty,
) -> None:
    """Add the extensions that end, if they are among the best K, to their sentences' finished hypotheses."""
    beam = live.totals.shape[1]
    ends = (places % vocabulary == special.end)[:, :beam] & ~values[:, :beam].isneginf()
    for row, rank in torch.nonzero(ends).tolist():
        origin = int(places[row, rank]) // vocabulary
        tokens = [*live.written[row, origin].tolist(), special.end]
        hypothesis = make_hypothesis(tokens, float(values[row, rank]), end=special.end, penalty=penalty)
        finished[int(live.sentences[row])].append(hypothesis)


def _survive(values: Tensor, places: Tensor, vocabulary: int, live: _Live[State], *, end: int) -> None:
    """Keep the best K extensions that do not end as the live hypotheses."""
    count, beam = live.totals.shape
    continuing = values.masked_fill(places % vocabulary == end, float("-inf"))
    live.totals, ranks = continuing.topk(beam, dim=1)
    chosen = places.gather(1, ranks)
    origins = chosen // vocabulary  # [N, K] which hypothesis each one extends
    rows = (torch.arange(count, device=origins.device)[:, None] * beam + origins).flatten()
    live.state = live.state.select(rows)
    past = live.written.flatten(0, 1)[rows].view(count, beam, -1)
    live.written = torch.cat([past, (chosen % vocabulary)[:, :, None]], dim=2)


def _settled(live: _Live[State], finished: list[list[Hypothesis]], penalty: Penalty) -> Tensor:
    """Return which of the N sentences have K finished hypotheses that no live one would beat if it ended now [N].

    A live hypothesis could still win: its log-probability falls, but the penalty of a longer output is milder. Waiting
    until that is impossible takes many times longer and was measured to find the same translations. With a beam of one,
    the first finished hypothesis ends the search, as in greedy search.
    """
    beam = live.totals.shape[1]
    best_live = live.totals.amax(dim=1).tolist()
    divisor = penalty.of(live.written.shape[2] + 1)  # with an end token
    settled = []
    for sentence, total in zip(live.sentences.tolist(), best_live, strict=True):
        scores = sorted((hypothesis.score for hypothesis in finished[sentence]), reverse=True)[:beam]
        settled.append(len(scores) == beam and (beam == 1 or total / divisor <= scores[-1]))
    return torch.tensor(settled, device=live.totals.device)


def _give_up(
    rows: Tensor, live: _Live[State], finished: list[list[Hypothesis]], *, special: SpecialIds, penalty: Penalty
) -> None:
    """At the length limit, add the best live hypothesis of a sentence that has no finished one, marked unfinished.

    Finished hypotheses are kept, but the best of them is marked if a live one was better.
    """
    for row in rows.tolist():
        hypotheses = finished[int(live.sentences[row])]
        tokens = live.written[row, 0].tolist()
        open_end = make_hypothesis(tokens, float(live.totals[row, 0]), end=special.end, penalty=penalty)
        best = max(hypotheses, key=lambda hypothesis: hypothesis.score, default=None)
        if best is None:
            hypotheses.append(open_end)
        elif open_end.score > best.score:
            hypotheses[hypotheses.index(best)] = replace(best, limited=True)
