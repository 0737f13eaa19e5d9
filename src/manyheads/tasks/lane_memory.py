"""What a model remembers of the text that it learns from, from one batch to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from manyheads.models.interface import Memory


class LaneMemory:
    """What a model remembers of each lane of a text. The batches of a process keep to its lanes."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._kept: dict[int, dict[str, Tensor]] = {}

    def of(self, lanes: Sequence[int]) -> Memory | None:
        """Return what is remembered of some lanes, [B, …] each; None at the beginning."""
        if not self._kept:
            return None
        return {name: torch.stack([self._kept[lane][name] for lane in lanes]) for name in self._kept[lanes[0]]}

    def keep(self, lanes: Sequence[int], memory: Memory) -> None:
        """Remember this [B, …] of some lanes."""
        for row, lane in enumerate(lanes):
            self._kept[lane] = {name: rows[row] for name, rows in memory.items()}

    def of_all(self) -> dict[str, Tensor]:
        """Return what is remembered of every lane [L, …]; those of other processes are zero."""
        one = next(iter(self._kept.values()), {})
        every = {name: row.new_zeros(self._lanes, *row.shape) for name, row in one.items()}
        for lane, rows in self._kept.items():
            for name, row in rows.items():
                every[name][lane] = row
        return every

    def restore(self, every: Mapping[str, Tensor]) -> None:
        """Remember this [L, …] of all lanes."""
        self._kept = {}
        for name, rows in every.items():
            for lane, row in enumerate(rows):
                self._kept.setdefault(lane, {})[name] = row
