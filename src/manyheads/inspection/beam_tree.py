"""Beam search as a tree: every hypothesis that was ever in the beam, and its outcome.

No two hypotheses in a beam have the same tokens, and each extends a hypothesis of the previous step. So the tree is
built from the tokens of each step's beam alone; the search does not have to report which hypothesis extends which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor

from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.inspection.views import rounded

NodeState = Literal["kept", "dropped", "finished", "best"]
"""kept: a later beam has an extension of it; dropped: none has; finished: it ends with the end token, and is not the
best; best: it is the returned hypothesis, or a prefix of it."""


@dataclass(frozen=True)
class Node:
    """One token of the tree; `log_probability` is that of all tokens from the start to this node."""

    id: int
    parent: int | None
    step: int
    token: str
    log_probability: float
    state: NodeState

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
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
    """A returned hypothesis: its text, and the id of its last node."""

    text: str
    score: float
    log_probability: float
    node: int

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "text": self.text,
            "score": rounded(self.score),
            "log_probability": rounded(self.log_probability),
            "node": self.node,
        }


@dataclass(frozen=True)
class BeamTree:
    """Everything that was in the beam for at least one step; node 0 is the start, and parents precede children."""

    translation: str
    beam: int
    nodes: list[Node]
    hypotheses: list[Leaf]

    def to_json(self) -> dict[str, Any]:
        """Return this as values that can be written as JSON."""
        return {
            "translation": self.translation,
            "beam": self.beam,
            "nodes": [node.to_json() for node in self.nodes],
            "hypotheses": [leaf.to_json() for leaf in self.hypotheses],
        }

    def layout(self) -> dict[int, tuple[int, int]]:
        """Return the column and the row of each node: its step, and its rank among the nodes of that step."""
        columns: dict[int, list[Node]] = {}
        for node in sorted(self.nodes, key=lambda node: -node.log_probability):
            columns.setdefault(node.step, []).append(node)
        return {node.id: (step, row) for step, nodes in columns.items() for row, node in enumerate(nodes)}

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from manyheads.inspection.fragments import beam_fragment

        return beam_fragment(self)


@dataclass
class BeamRecorder:
    """A callback for `beam_search` on one sentence; it records every prefix with its log-probability."""

    totals: dict[tuple[int, ...], float] = field(default_factory=lambda: {(): 0.0})
    finished: set[tuple[int, ...]] = field(default_factory=set)

    def __call__(self, sentences: Tensor, written: Tensor, totals: Tensor, finished: list[list[Hypothesis]]) -> None:
        """Record the live hypotheses [1, K, t] of a step, their log-probabilities [1, K], and the finished ones."""
        for hypothesis in finished[0]:
            self.totals.setdefault(tuple(hypothesis.tokens), hypothesis.log_probability)
            self.finished.add(tuple(hypothesis.tokens))
        for tokens, total in zip(written[0].tolist(), totals[0].tolist(), strict=True):
            if total > float("-inf"):  # −∞ marks an unused row of the beam
                self.totals[tuple(tokens)] = total

    def nodes(self, best: Sequence[int], names: Sequence[str], start: str) -> list[Node]:
        """Return nodes; `best` is the returned hypothesis, `names` the piece of each id, `start` the first token."""
        numbers = {prefix: number for number, prefix in enumerate(self.totals)}
        extended = {prefix[:-1] for prefix in self.totals if prefix}
        return [
            Node(
                id=number,
                parent=numbers[prefix[:-1]] if prefix else None,
                step=len(prefix),
                token=names[prefix[-1]] if prefix else start,
                log_probability=self.totals[prefix],
                state=self._state(prefix, tuple(best), extended),
            )
            for prefix, number in numbers.items()
        ]

    def last_node(self, tokens: Sequence[int]) -> int:
        """Return the id of the last node of a hypothesis."""
        return list(self.totals).index(tuple(tokens))

    def _state(self, prefix: tuple[int, ...], best: tuple[int, ...], extended: set[tuple[int, ...]]) -> NodeState:
        """Return the state of a prefix."""
        if best[: len(prefix)] == prefix:
            return "best"
        if prefix in self.finished:
            return "finished"
        return "kept" if prefix in extended else "dropped"
