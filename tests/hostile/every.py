"""All cases, by the reader that they are meant for; and some that show that a bad outcome is found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hostile import cases, kept, requests
from hostile.running import MEMORY, REFUSED, WORKS, Case
from hostile.world import World

KINDS: dict[str, Callable[[World], Iterator[Case]]] = {
    one.__name__: one
    for one in (
        cases.recipes,
        cases.changes,
        cases.runs,
        cases.weights,
        cases.tokenizers,
        cases.marian,
        cases.berts,
        cases.corpora,
        cases.examples,
        cases.texts,
        cases.options,
        cases.places,
        kept.checked,
        kept.changed_data,
        kept.state,
        kept.stores,
        requests.requests,
    )
}


def all_cases(world: World) -> list[Case]:
    """Return the cases of all readers."""
    return [case for make in KINDS.values() for case in make(world)]


def controls(world: World) -> dict[str, Case]:
    """Return cases that must be found bad, by the problem that must be found: the others prove nothing without them."""
    run, nowhere = str(world.folder / "translation"), "/nowhere.yaml"
    translate = ["translate", "--model", run]
    return {
        "accepted": Case("a good text", "translate", lambda _: [*translate, "--text", "a"], REFUSED),
        "refused": Case("a missing recipe", "validate", lambda _: ["validate", nowhere], WORKS),
        "traceback": Case("its traceback", "validate", lambda _: ["--debug", "validate", nowhere]),
        "no sentence": Case("no words", "validate", lambda _: ["validate", nowhere], shell=">/dev/null 2>&1"),
        "killed by SIGABRT": Case("a crash", "serve", lambda _: [f"en-de={run}"], request=_crash),
        "hang": Case("a hang", "translate", lambda place: [*translate, _pipe(place)], patience=1.0),
        "memory": Case("much memory", "serve", lambda _: [f"en-de={run}"], WORKS, request=_much),
    }


def _crash(client: Any) -> None:
    """End the process as a fault in a library does."""
    os.abort()


def _pipe(place: Path) -> str:
    """Return a pipe without a writer, for which a reader waits."""
    os.mkfifo(place / "pipe")
    return str(place / "pipe")


def _much(client: Any) -> Any:
    """Use more memory than is allowed, and then ask for an answer."""
    assert b"\1" * MEMORY
    return client.get("/health")
