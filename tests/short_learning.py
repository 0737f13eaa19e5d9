"""A few hundred updates on sequences of words, for tests of what a kind of model can learn in seconds."""

from __future__ import annotations

from collections.abc import Callable

import torch

from helpers import SPECIAL, VOCABULARY, batch_of
from manyheads.decoding.search.greedy import greedy_search
from manyheads.models.interface import SequenceToSequence, Tokens

Row = list[int]


def drawn(count: int, longest: int, generator: torch.Generator) -> list[Row]:
    """Return sequences of 1 to `longest` words."""
    lengths = torch.randint(1, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(4, VOCABULARY, (length,), generator=generator).tolist() for length in lengths]


def learn(
    model: SequenceToSequence,
    answer: Callable[[Row], Row],
    *,
    longest: int,
    steps: int,
    rate: float,
    rows: int = 64,
) -> None:
    """Train a model to answer sequences, with Adam whose rate falls to zero."""
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min((step + 1) / 20, 1 - step / steps))
    model.train()
    for _ in range(steps):
        sources = drawn(rows, longest, generator)
        ended = Tokens.pad([[*answer(row), SPECIAL.end] for row in sources], padding=SPECIAL.pad)
        begun = Tokens.pad([[SPECIAL.start, *answer(row)] for row in sources], padding=SPECIAL.pad)
        real = torch.arange(ended.ids.shape[1]) < ended.lengths[:, None]
        loss = torch.nn.functional.cross_entropy(model(batch_of(sources), begun)[real], ended.ids[real])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval()


def share_right(model: SequenceToSequence, answer: Callable[[Row], Row], *, longest: int, count: int = 200) -> float:
    """Return the share of new sequences whose greedy output is the answer and ends by itself."""
    sources = drawn(count, longest, torch.Generator().manual_seed(2))
    limits = [3 * len(row) + 5 for row in sources]
    found = greedy_search(model, model.start(model.encode(batch_of(sources))), special=SPECIAL, limits=limits)
    right = [one.tokens == [*answer(row), SPECIAL.end] for one, row in zip(found, sources, strict=True)]
    return sum(right) / count
