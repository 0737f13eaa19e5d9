"""The cache: a damaged store is built again, a killed build leaves nothing for ever, and what is unused is removed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.data.batches.cache import (
    DAY,
    DAYS,
    FACTS,
    SETTLED,
    entries,
    new_store,
    remove_unused,
    stored_facts,
    write_facts,
)
from manyheads.errors import Notice

CONTENT = bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty before each test."""
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def build(folder: Path) -> Path:
    with new_store(folder) as draft:
        (draft / "a.ids").write_bytes(CONTENT)
        (draft / "b.ids").write_bytes(CONTENT[::-1])
        write_facts(draft, {"origin": "the test"})
    return folder


def flip(path: Path, place: int = 5000) -> None:
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1
    path.write_bytes(content)


def change_facts(folder: Path, **changes: object) -> None:
    (folder / FACTS).write_text(json.dumps({**json.loads((folder / FACTS).read_text()), **changes}))


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "one bit": lambda store: flip(store / "a.ids"),
    "cut short": lambda store: (store / "a.ids").write_bytes(CONTENT[:-1]),
    "empty": lambda store: (store / "a.ids").write_bytes(b""),
    "longer": lambda store: (store / "a.ids").write_bytes(CONTENT + b"x"),
    "zeros": lambda store: (store / "b.ids").write_bytes(bytes(len(CONTENT))),
    "missing": lambda store: (store / "b.ids").unlink(),
    "exchanged": lambda store: (store / "a.ids").replace(store / "b.ids"),
    "no facts": lambda store: (store / FACTS).unlink(),
    "no JSON": lambda store: (store / FACTS).write_text("{"),
    "a list": lambda store: (store / FACTS).write_text("[]"),
    "other facts": lambda store: change_facts(store, origin="another test"),
    "files that are none": lambda store: change_facts(store, files=3),
}


def test_a_store_that_is_as_it_was_built_is_taken(cache: Path):
    store = build(cache / "store" / "one")
    facts = stored_facts(store)
    assert facts is not None and facts["origin"] == "the test"
    assert stored_facts(cache / "store" / "two") is None


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_removed_with_a_notice(cache: Path, damage: str):
    store = build(cache / "store" / "one")
    DAMAGES[damage](store)
    with pytest.warns(Notice, match=r"one/.*damaged, so the store is built again") as told:
        assert stored_facts(store) is None
    assert len(told) == 1
    assert list((cache / "store").iterdir()) == []
    assert stored_facts(build(store)) is not None


def test_a_large_file_is_hashed_in_samples(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("manyheads.data.batches.cache.BLOCK", 16)
    monkeypatch.setattr("manyheads.data.batches.cache.HASHED", 1024)
    store = build(cache / "store" / "one")
    flip(store / "a.ids", 20)  # between two samples
    assert stored_facts(store) is not None
    flip(store / "a.ids", 3)
    with pytest.warns(Notice, match="damaged"):
        assert stored_facts(store) is None


BUILDER = """
import sys, time
from pathlib import Path
from manyheads.data.batches.cache import new_store
with new_store(Path(sys.argv[1])) as draft:
    (draft / "a.ids").write_bytes(b"half")
    print("building", flush=True)
    time.sleep(600)
"""


def test_a_killed_build_leaves_nothing_for_ever(cache: Path):
    words = [sys.executable, "-c", BUILDER, str(cache / "store" / "one")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"building\n"
        (draft,) = (cache / "store").iterdir()
        age(draft, 2 * SETTLED)
        remove_unused()
        assert draft.exists(), "it is being built"
        process.send_signal(signal.SIGKILL)
    age(draft, 0)
    remove_unused()
    assert draft.exists(), "it was changed a moment ago"
    age(draft, 2 * SETTLED)
    remove_unused()
    assert list((cache / "store").iterdir()) == []


def age(path: Path, seconds: float) -> None:
    """Make a store look as if it had last been used some seconds ago."""
    then = time.time() - seconds
    for one in (*path.rglob("*"), path):
        os.utime(one, (then, then))


def test_what_is_not_used_for_a_month_is_removed(cache: Path):
    old, used, new = (build(cache / "store" / name) for name in ("old", "used", "new"))
    left_by_others = cache / "text" / "0123.ids"  # of an earlier version
    left_by_others.parent.mkdir()
    left_by_others.write_bytes(CONTENT)
    for path in (old, used, left_by_others):
        age(path, (DAYS - 1) * DAY)
    assert stored_facts(used) is not None
    assert [entry.path.name for entry in entries()][:2] in (["old", "0123.ids"], ["0123.ids", "old"])
    for path in (old, left_by_others):
        age(path, (DAYS + 1) * DAY)
    assert stored_facts(new) is not None
    assert {path.name for path in cache.glob("*/*")} == {"used", "new"}


def test_the_command_shows_and_clears_them(cache: Path, command: Callable[..., Any]):
    build(cache / "store" / "one")
    age(build(cache / "text" / "two"), 2 * DAY)
    shown = command("data", "cache").out.splitlines()
    assert "2.0 days  text   the test" in shown[0]
    assert "0.0 days  pairs  the test" in shown[1]
    assert shown[2].startswith("2 stores with ") and str(cache) in shown[2]
    facts = json.loads(command("data", "cache", "--json").out)
    assert [one["kind"] for one in facts["stores"]] == ["text", "pairs"]
    assert facts["bytes"] == sum(one["bytes"] for one in facts["stores"]) > 2 * len(CONTENT)
    assert "2 stores with" in command("data", "cache", "--clear").out
    assert list(cache.glob("*/*")) == []
    assert json.loads(command("data", "cache", "--clear", "--json").out)["stores"] == []
