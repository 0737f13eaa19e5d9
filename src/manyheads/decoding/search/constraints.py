"""Which tokens may follow in a search: first those of a forced prefix, and no n-gram twice.

Constraints forbid tokens (−∞); they never change the log-probability of those that remain, so a returned score is
always the model's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

FORBIDDEN = float("-inf")


@dataclass(frozen=True)
class Constraints:
    """Limits on outputs: the forced first tokens of each sentence, and the n of n-grams not to repeat (0: no limit)."""

    prefixes: Sequence[Sequence[int]] = field(default_factory=tuple)
    no_repeat_ngram: int = 0

    def apply(self, log_probabilities: Tensor, written: Tensor, sentences: Tensor, *, never: Sequence[int]) -> Tensor:
        """Return log-probabilities [N, V] with −∞ where a token may not follow.

        `written` [N, t] holds the tokens of each row so far, `sentences` [N] the index of its sentence, and `never` the
        ids that are never output (padding, start).
        """
        allowed = log_probabilities.clone()
        allowed[:, list(never)] = FORBIDDEN
        if self.no_repeat_ngram:
            self._block(allowed, written)
        if self.prefixes:  # last, because a forced prefix may repeat an n-gram
            self._force(allowed, log_probabilities, written.shape[1], sentences)
        return allowed

    def _force(self, allowed: Tensor, log_probabilities: Tensor, position: int, sentences: Tensor) -> None:
        """Allow only the prefix's next token in rows whose prefix is not complete."""
        for row, sentence in enumerate(sentences.tolist()):
            prefix = self.prefixes[sentence]
            if position < len(prefix):
                allowed[row] = FORBIDDEN
                allowed[row, prefix[position]] = log_probabilities[row, prefix[position]]

    def _block(self, allowed: Tensor, written: Tensor) -> None:
        """Forbid every token that would complete an n-gram the row already has."""
        n = self.no_repeat_ngram
        if written.shape[1] < n:
            return
        grams = written.unfold(1, n, 1)  # [N, t - n + 1, n]
        tail = written[:, written.shape[1] - n + 1 :]  # [N, n - 1]
        seen = (grams[:, :, :-1] == tail[:, None]).all(dim=-1)
        rows, places = torch.nonzero(seen, as_tuple=True)
        allowed[rows, grams[rows, places, -1]] = FORBIDDEN


NO_CONSTRAINTS = Constraints()
