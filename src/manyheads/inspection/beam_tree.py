"""Beam search as a tree: every hypothesis that was ever in the beam, and what became of it.

A hypothesis is known by its tokens, no two in a beam have the same ones, and each extends one of the step before. So
the tree follows from the tokens of each step's beam alone; the search need not say who extends whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor

from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.inspection.views import rounded

Fate = Literal["kept", "dropped", "finished", "best"]
"""kept: something that extends it came into a beam; dropped: nothing did; finished: it ends, and another was better;
best: it is the returned hypothesis, or the way to it."""


@dataclass(frozen=True)
class Node:
    """One token of the tree; `log_probability` is that of everything from the start to here."""

    id: int
    parent: int | None
    step: int
    token: str
    log_probability: float
    state: Fate

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {
            "id": self.id,
            "parent": self.parent,
            "step": self.step,
            "token": self.token,
            "log_probability": rounded(self.log_probability),
            "state": self.state,
        }


@dataclass(frozen=True)
class Leaf:
    """A returned hypothesis: its text, and the node at which it ends."""

    text: str
    score: float
    log_probability: float
    node: int

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {
            "text": self.text,
            "score": rounded(self.score),
            "log_probability": rounded(self.log_probability),
            "node": self.node,
        }


@dataclass(frozen=True)
class BeamTree:
    """All that a search kept for at least one step; node 0 is the start, and parents stand before their children."""

    translation: str
    beam: int
    nodes: list[Node]
    hypotheses: list[Leaf]

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it."""
        return {
            "translation": self.translation,
            "beam": self.beam,
            "nodes": [node.to_json() for node in self.nodes],
            "hypotheses": [one.to_json() for one in self.hypotheses],
        }

    def places(self) -> dict[int, tuple[int, int]]:
        """Return where each node is drawn: the column is its step, the row its rank among the nodes of that step."""
        columns: dict[int, list[Node]] = {}
        for node in sorted(self.nodes, key=lambda one: -one.log_probability):
            columns.setdefault(node.step, []).append(node)
        return {node.id: (step, row) for step, nodes in columns.items() for row, node in enumerate(nodes)}

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it."""
        from manyheads.inspection.fragments import beam_fragment

        return beam_fragment(self)


@dataclass
class BeamWatcher:
    """Looks on while `beam_search` works at one sentence, and remembers every prefix with its log-probability."""

    totals: dict[tuple[int, ...], float] = field(default_factory=lambda: {(): 0.0})
    finished: set[tuple[int, ...]] = field(default_factory=set)

    def __call__(self, sentences: Tensor, written: Tensor, totals: Tensor, finished: list[list[Hypothesis]]) -> None:
        """Note the live hypotheses [1, K, t] of a step, their log-probabilities [1, K], and those that ended."""
        for one in finished[0]:
            self.totals.setdefault(tuple(one.tokens), one.log_probability)
            self.finished.add(tuple(one.tokens))
        for tokens, total in zip(written[0].tolist(), totals[0].tolist(), strict=True):
            if total > float("-inf"):  # an empty place has this
                self.totals[tuple(tokens)] = total

    def nodes(self, best: Sequence[int], names: Sequence[str], start: str) -> list[Node]:
        """Return the tree; `best` is the returned hypothesis, and `names` has the piece of every id."""
        numbers = {prefix: number for number, prefix in enumerate(self.totals)}
        extended = {prefix[:-1] for prefix in self.totals if prefix}
        return [
            Node(
                id=number,
                parent=numbers[prefix[:-1]] if prefix else None,
                step=len(prefix),
                token=names[prefix[-1]] if prefix else start,
                log_probability=self.totals[prefix],
                state=self._fate(prefix, tuple(best), extended),
            )
            for prefix, number in numbers.items()
        ]

    def place(self, tokens: Sequence[int]) -> int:
        """Return the number of the node at which a hypothesis ends."""
        return list(self.totals).index(tuple(tokens))

    def _fate(self, prefix: tuple[int, ...], best: tuple[int, ...], extended: set[tuple[int, ...]]) -> Fate:
        """Return what became of a prefix."""
        if best[: len(prefix)] == prefix:
            return "best"
        if prefix in self.finished:
            return "finished"
        return "kept" if prefix in extended else "dropped"
