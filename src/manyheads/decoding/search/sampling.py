"""Sampling: a token drawn from the model's distribution, sharpened or truncated to its most probable part."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from manyheads.config.values import LARGEST
from manyheads.decoding.search.greedy import Choice, most_probable
from manyheads.errors import ManyheadsError


@dataclass(frozen=True)
class Sampling:
    """How to draw: temperature, only the `top_k` most probable (0: all), only the nucleus of mass `top_p`."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < math.inf:
            raise ManyheadsError("temperature must be a number that is not negative.")
        if not 0 <= self.top_k <= LARGEST:
            raise ManyheadsError("top-k must not be negative, nor a number of more than 63 bits.")
        if not -LARGEST - 1 <= self.seed <= 2 * LARGEST + 1:
            raise ManyheadsError("the seed must be a number of 64 bits.")
        if not 0.0 < self.top_p <= 1.0:
            raise ManyheadsError("top-p must be above 0 and at most 1.")


def sampler(sampling: Sampling, device: torch.device) -> Choice:
    """Return a choice for `greedy_search` that samples with the seed; at temperature 0, the most probable token."""
    if sampling.temperature == 0.0:
        return most_probable
    generator = torch.Generator(device=device).manual_seed(sampling.seed)

    def choose(log_probabilities: Tensor) -> Tensor:
        """Draw one token per row."""
        kept = cut(log_probabilities / sampling.temperature, top_k=sampling.top_k, top_p=sampling.top_p)
        return torch.multinomial(kept.softmax(dim=-1), 1, generator=generator)[:, 0]

    return choose


def cut(logits: Tensor, *, top_k: int, top_p: float) -> Tensor:
    """Return logits [N, V] with −∞ outside the `top_k` most probable tokens and outside the nucleus.

    The nucleus is the smallest set of most probable tokens whose probabilities sum to at least `top_p`.
    """
    if 0 < top_k < logits.shape[-1]:
        smallest = logits.topk(top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < smallest, float("-inf"))
    if top_p < 1.0:
        ordered, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # the mass in front of each token; the first is always kept
        outside = torch.zeros_like(logits, dtype=torch.bool).scatter(1, order, before >= top_p)
        logits = logits.masked_fill(outside, float("-inf"))
    return logits
