"""What every sequence-to-sequence model offers, so that one trainer and one search serve them all.

    encode(source) → memory                     read the source once
    decode(target, memory) → hidden [B, T, D]   all target positions at once, as in training
    logits(hidden) → [B, T, V]
    start(memory) → state                       one position at a time, as in translating
    step(tokens, state) → logits [B, V], state

`step` after `step` equals `decode` followed by `logits`, which is what the model itself, called, does:

    model(source, target) → logits [B, T, V]    teacher forcing
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Tokens:
    """A batch of token sequences, padded on the right: ids [B, S] and the number of real ones in each row [B]."""

    ids: Tensor
    lengths: Tensor

    @classmethod
    def pad(cls, rows: Sequence[Sequence[int]], *, padding: int, device: torch.device | str = "cpu") -> Self:
        """Lay out rows of ids as one rectangle."""
        lengths = [len(row) for row in rows]
        width = max([1, *lengths])
        filled = [[*row, *[padding] * (width - len(row))] for row in rows]
        return cls(torch.tensor(filled, device=device), torch.tensor(lengths, device=device))


class SequenceToSequence(nn.Module, ABC):
    """A model that reads one sequence and writes another."""

    @property
    @abstractmethod
    def output_vectors(self) -> Tensor:
        """The output layer's weights [V, D], for a loss that never holds all logits at once."""

    @property
    @abstractmethod
    def output_bias(self) -> Tensor | None:
        """The output layer's bias [V], if there is one."""

    @abstractmethod
    def encode(self, source: Tokens) -> Any:  # noqa: ANN401 (each model has a memory of its own kind)
        """Read the source; what is returned is for `decode` and `start`."""

    @abstractmethod
    def decode(self, target: Tensor, memory: Any) -> Tensor:  # noqa: ANN401
        """Return hidden states [B, T, D] of target ids [B, T], none of which sees its future."""

    @abstractmethod
    def start(self, memory: Any, hypotheses: int = 1) -> Any:  # noqa: ANN401
        """Return the state before the first target token, with so many rows side by side for each source.

        `state.select(rows)` returns the given rows, in that order: so sentences leave and beams are reordered. The rows
        of one source stay side by side.
        """

    @abstractmethod
    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """Read one more target token per row [B]; return the next one's logits [B, V] and the new state.

        The old state is used up; `select` all its rows first to keep a copy.
        """

    def forward(self, source: Tokens, target: Tokens) -> Tensor:
        """Return the logits [B, T, V] of the token that follows each target token, all positions at once.

        This is teacher forcing. The encoder reads `source` [B, S], which ends with the end token, and the decoder reads
        `target` [B, T], which begins with the start token. Logits [b, t] are those of the token after
        `target.ids[b, t]`; where a row has ended they mean nothing.
        """
        return self.logits(self.decode(target.ids, self.encode(source)))

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the output layer's logits [B, T, V] for hidden states [B, T, D]."""
        return nn.functional.linear(hidden, self.output_vectors, self.output_bias)
