"""Greedy decoding, or the decoding of a given translation, one token at a time, with the candidates of each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from manyheads.attention.recording import record_attention
from manyheads.config.special import SpecialIds
from manyheads.data.tokens.tokenizers import Tokenizer
from manyheads.decoding.search.constraints import Constraints
from manyheads.inspection.kinds import require_attention
from manyheads.inspection.views import Array, rounded
from manyheads.models.interface import AnySequenceToSequence, Tokens


@dataclass(frozen=True)
class TokenProbability:
    """A candidate for the next token, and its probability."""

    token: str
    probability: float

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {"token": self.token, "probability": rounded(self.probability)}


@dataclass(frozen=True)
class Step:
    """One step: the token, its candidates, and the cross-attention weights of the last layer [H, S]."""

    step: int
    token: str
    probability: float
    text: str
    candidates: list[TokenProbability]
    cross: Array
    source_tokens: list[str]

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "step": self.step,
            "token": self.token,
            "probability": rounded(self.probability),
            "text": self.text,
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "cross": rounded(self.cross),
            "source_tokens": self.source_tokens,
        }

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import steps_fragment

        return steps_fragment([self])


@dataclass(frozen=True)
class Done:
    """The end of the steps, with the whole translation."""

    translation: str

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {"done": True, "translation": self.translation}


class Steps(Iterator[Step | Done]):
    """An iterator over the steps of decoding. A notebook shows all of them; that does not advance the iterator."""

    def __init__(self, decode: Callable[[], Iterator[Step | Done]]) -> None:
        self._decode = decode
        self._remaining = decode()

    def __next__(self) -> Step | Done:
        return next(self._remaining)

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it."""
        from manyheads.inspection.fragments import steps_fragment

        return steps_fragment(self._decode())


@torch.inference_mode()
def decoding_steps(
    model: AnySequenceToSequence,
    source: Tokens,
    *,
    special: SpecialIds,
    limit: int,
    constraints: Constraints,
    tokenizer: Tokenizer,
    source_tokens: Sequence[str],
    candidates: int,
    tokens: Sequence[int] | None = None,
) -> Iterator[Step | Done]:
    """Yield each decoding step of one source [1, S], then `Done`.

    The tokens are those of greedy search, or the given `tokens` of a translation.
    """
    state = model.start(model.encode(source))
    last_layer = require_attention(model)["cross"][-1]
    written: list[int] = []
    limit = limit if tokens is None else len(tokens)
    while len(written) < limit and (not written or written[-1] != special.end):
        before = torch.tensor([[special.start, *written]], device=source.ids.device)
        with record_attention(model) as recording:  # not around the loop: other threads may use the model between steps
            logits, state = model.step(before[:, -1], state)
        scores = logits.log_softmax(dim=-1)
        allowed = constraints.apply(scores, before[:, 1:], scores.new_zeros(1).long(), never=special.never)[0]
        best = _best(allowed, candidates)
        token = best[0][0] if tokens is None else tokens[len(written)]
        written.append(token)
        yield Step(
            step=len(written),
            token=tokenizer.pieces([token])[0],
            probability=float(allowed[token].exp()),
            text=tokenizer.decode(written),
            candidates=[
                TokenProbability(tokenizer.pieces([candidate])[0], probability)
                for candidate, probability in _including(token, best, allowed)
            ],
            cross=recording[last_layer][0, :, 0].float().cpu().numpy(),
            source_tokens=list(source_tokens),
        )
    yield Done(tokenizer.decode(written))


def _best(log_probabilities: Tensor, count: int) -> list[tuple[int, float]]:
    """Return the most probable tokens for log-probabilities [V], best first, with their probabilities."""
    best = log_probabilities.topk(min(count, len(log_probabilities)))
    pairs = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
    return [pair for rank, pair in enumerate(pairs) if rank == 0 or pair[1] > 0.0]


def _including(token: int, best: list[tuple[int, float]], log_probabilities: Tensor) -> list[tuple[int, float]]:
    """Return the best tokens; if the written token is not one of them, it replaces the last."""
    if any(token == candidate for candidate, _ in best):
        return best
    return [*best[: max(1, len(best) - 1)], (token, float(log_probabilities[token].exp()))]
