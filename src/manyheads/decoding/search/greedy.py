"""Greedy decoding: the most probable token at each step, until the end token (section 3.1, inference)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from manyheads.config.special import SpecialIds
from manyheads.decoding.search.constraints import NO_CONSTRAINTS, Constraints
from manyheads.decoding.search.hypothesis import PAPER, Hypothesis, Penalty, make_hypothesis
from manyheads.models.interface import Autoregressive, Context, State

Choice = Callable[[Tensor], Tensor]
"""Picks one token per row [N] from log-probabilities [N, V]."""


def most_probable(log_probabilities: Tensor) -> Tensor:
    """Return the most probable token of each row."""
    return log_probabilities.argmax(dim=-1)


@torch.inference_mode()
def greedy_search(
    model: Autoregressive[Context, State],
    state: State,
    *,
    special: SpecialIds,
    limits: Sequence[int],
    penalty: Penalty = PAPER,
    constraints: Constraints = NO_CONSTRAINTS,
    choose: Choice = most_probable,
) -> list[Hypothesis]:
    """Return one hypothesis per row of the state, each at most `limits` [B] tokens long, the end token included."""
    device = model.output_vectors.device
    rows = torch.arange(len(limits), device=device)  # the index of each row's sentence
    most = torch.tensor(list(limits), device=device)
    written = torch.empty(len(rows), 0, dtype=torch.long, device=device)
    tokens = torch.full((len(rows),), special.start, device=device)
    totals = torch.zeros(len(rows), device=device)
    results: list[Hypothesis | None] = [None] * len(rows)
    while len(rows):
        logits, state = model.step(tokens, state)
        likely = logits.log_softmax(dim=-1)
        allowed = constraints.apply(likely, written, rows, never=special.never)
        tokens = choose(allowed)
        totals = totals + likely.gather(1, tokens[:, None])[:, 0]
        written = torch.cat([written, tokens[:, None]], dim=1)
        done = (tokens == special.end) | (written.shape[1] >= most[rows])
        if done.any():
            for row in torch.nonzero(done)[:, 0].tolist():
                results[int(rows[row])] = make_hypothesis(
                    written[row].tolist(), float(totals[row]), end=special.end, penalty=penalty
                )
            kept = torch.nonzero(~done)[:, 0]  # finished sentences leave the batch
            rows, written, tokens, totals = rows[kept], written[kept], tokens[kept], totals[kept]
            state = state.select(kept)
    return [result for result in results if result is not None]
