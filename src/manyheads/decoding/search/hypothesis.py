"""The result of a search, and how hypotheses of different lengths are compared.

The length penalty of the paper (section 6.1, after Wu et al. 2016, equation 14), and the one of most other toolkits:

    score(y) = log P(y | x) / ((5 + |y|) / 6)^α          paper; |y| counts the end token
    score(y) = log P(y | x) / |y|^α                      power
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

PenaltyForm = Literal["paper", "power"]


@dataclass(frozen=True)
class Hypothesis:
    """One output: token ids with the end token if it was reached, its log-probability and its score.

    `limited` means that the length limit excluded a more probable output. `attention`, if it was requested, is the
    attention that aligns each token with source tokens [T, S]: see `config.alignment`.
    """

    tokens: list[int]
    log_probability: float
    score: float
    finished: bool
    limited: bool = False
    attention: list[list[float]] | None = None


class Penalty(NamedTuple):
    """The length penalty, by which log-probabilities are divided; it is 1 for every length at α = 0."""

    alpha: float = 0.6
    form: PenaltyForm = "paper"

    def of(self, length: int) -> float:
        """Return the divisor for outputs of a given length."""
        return float((length if self.form == "power" else (5.0 + length) / 6.0) ** self.alpha)


PAPER = Penalty()
"""The paper's length penalty, α = 0.6."""


def make_hypothesis(tokens: list[int], log_probability: float, *, end: int, penalty: Penalty) -> Hypothesis:
    """Return the hypothesis with its penalised score."""
    score = log_probability / penalty.of(len(tokens))
    return Hypothesis(tokens, log_probability, score, finished=bool(tokens) and tokens[-1] == end)
