"""Every verb with hostile inputs, each in a process of its own: a sentence and status 2, in little time and memory.

`benchmarks/hostile.py` runs all cases; here is every seventh of each kind.
"""

from __future__ import annotations

import pytest

from hostile import cases
from hostile.running import run
from hostile.world import World

EVERY = 7
KINDS = (
    "recipes",
    "changes",
    "runs",
    "weights",
    "tokenizers",
    "marian",
    "berts",
    "corpora",
    "examples",
    "texts",
    "options",
)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Good runs, to be damaged."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    return World.made_apart(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_inputs_are_refused_in_a_sentence(world: World, kind: str):
    bad = []
    for case in list(getattr(cases, kind)(world))[::EVERY]:
        outcome = run(case)
        if outcome.problems:
            bad.append(f"{case.verb}: {case.name}: {outcome.problems}: {outcome.said[-500:]}")
    assert not bad, "\n".join(bad)
