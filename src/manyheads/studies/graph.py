"""Which operation uses the results of which, position by position, as autograd's graph of a model has it.

While a model computes, its graph is cut behind every operation: what follows sees a leaf of the same values. An
operation is a layer, which computes all positions at once, or a recurrent cell at one position. The gradient of its
output at one position with respect to the leaves is zero exactly where it does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from manyheads.layers.cells import Cell, State

Node = tuple[int, int]
"""The number of an operation and a position in its output."""


class Ways(NamedTuple):
    """The number of operations on the shortest way between two positions, and on the longest way of all."""

    shortest: int | None
    """None if there is no way."""
    longest: int


@dataclass(frozen=True)
class Cut:
    """The outputs of an operation, each [1, n, D] or [1, D], and the leaves that took their places."""

    outputs: tuple[Tensor, ...]
    leaves: tuple[Tensor, ...]

    def at(self, position: int) -> list[Tensor]:
        """Return the outputs at a position [D]; a cell has only one."""
        return [output[0, position] if output.dim() == 3 else output[0] for output in self.outputs]


class Graph:
    """The operations of a model in the order in which they were computed; the first is its embedding."""

    def __init__(self) -> None:
        self._cuts: list[Cut] = []

    def cut(self, module: nn.Module) -> None:
        """Cut behind a module; of several outputs, such as what a convolution keeps of its inputs, behind the first."""

        def hook(_: nn.Module, __: object, output: Any) -> Any:  # noqa: ANN401
            """Return leaves in the place of the output."""
            if isinstance(output, tuple):
                return (*self._leaves(output[:1]), *output[1:])
            return self._leaves((output,))[0]

        module.register_forward_hook(hook)

    def cut_cell(self, cell: Cell) -> None:
        """Cut behind a recurrent cell at every position."""
        advance: Callable[..., State] = cell.advance

        def cutting(*arguments: Any) -> State:  # noqa: ANN401
            """Return leaves in the place of the new state."""
            return self._leaves(advance(*arguments))

        cell.advance = cutting  # type: ignore[method-assign,assignment]

    def ways(self, output: Tensor) -> Ways:
        """Return the ways from an output [D] to the first position of the embedding, through what it depends on."""
        used = self._used([output], len(self._cuts))
        shortest, longest = dict.fromkeys(used, 0), dict.fromkeys(used, 0)
        for number in reversed(range(1, len(self._cuts))):
            for position in [at for which, at in shortest if which == number]:
                node = (number, position)
                for below in self._used(self._cuts[number].at(position), number):
                    shortest[below] = min(shortest.get(below, len(self._cuts)), shortest[node] + 1)
                    longest[below] = max(longest.get(below, 0), longest[node] + 1)
        return Ways(shortest.get((0, 0)), max(longest.values()))

    def _used(self, values: list[Tensor], before: int) -> set[Node]:
        """Return what values depend on among the leaves of the operations before one."""
        leaves = [(number, leaf) for number in range(before) for leaf in self._cuts[number].leaves]
        total = torch.stack([value @ torch.randn_like(value) for value in values]).sum()
        gradients = torch.autograd.grad(total, [leaf for _, leaf in leaves], retain_graph=True, allow_unused=True)
        return {
            (number, position)
            for (number, _), gradient in zip(leaves, gradients, strict=True)
            if gradient is not None
            for position in gradient.reshape(-1, gradient.shape[-1]).any(dim=-1).nonzero().flatten().tolist()
        }

    def _leaves(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Keep an operation, and return its leaves."""
        leaves = tuple(output.detach().requires_grad_() for output in outputs)
        self._cuts.append(Cut(outputs, leaves))
        return leaves
