"""Run folders and recipes of earlier versions still work: the same outputs, and training that continues the same.

`tests/fixtures/README.md` says how the run folders were made. Each has an `expected.json` with commands, and what the
code that made the run printed and measured.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.documents.placeholders import protected

FIXTURES = Path(__file__).parents[1] / "fixtures"
RUNS = sorted(path.parent.name for path in (FIXTURES / "runs").glob("*/expected.json"))
RECIPES = sorted((FIXTURES / "recipes-0.1").glob("*.yaml"))

# Losses are recorded with five decimals, so two that are almost equal may differ by one unit of the last.
LOSS = 1.01e-5
NUMBER = 1e-5  # probabilities, and scores relative to their size

Command = Callable[..., Any]


@pytest.fixture(params=RUNS)
def earlier(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The `expected.json` of a fixture; a copy of the fixture is the working directory of the recorded commands."""
    folder = shutil.copytree(FIXTURES / "runs" / request.param, tmp_path / request.param)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MANYHEADS_DATA", str(folder / "data"))
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return expected


def difference(found: Any, expected: Any, place: str = "") -> str:
    """Return the first place where two JSON values differ, or nothing; keys that only `found` has are allowed."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [key for key in expected if key not in found]
        parts = [(found[key], value, f"{place}.{key}") for key, value in expected.items() if key in found]
        return f"{place} has no {missing[0]}" if missing else _first(parts)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return _first([(one, expected[n], f"{place}[{n}]") for n, one in enumerate(found)])
    same = pytest.approx(expected, rel=NUMBER, abs=NUMBER) if isinstance(expected, float) else expected
    return "" if found == same else f"{place}: {found!r} instead of {expected!r}"


def _first(parts: list[tuple[Any, Any, str]]) -> str:
    """Return the first difference of several pairs of values."""
    return next((text for part in parts if (text := difference(*part))), "")


def _by_present_ways(line: Any) -> Any:
    """Return an output without its scores if it has placeholders: the model reads other tokens in their place now."""
    if not (isinstance(line, dict) and "candidates" in line and protected(line["source"])):
        return line
    return {**line, "candidates": [{"text": one["text"]} for one in line["candidates"]]}


def test_there_is_a_run_of_every_kind():
    assert RUNS == ["copy", "dates", "kinds", "modified", "whereabouts"]
    assert len(RECIPES) == 17


def test_an_earlier_run_gives_the_same_outputs(command: Command, earlier: dict[str, Any]):
    for output in earlier["outputs"]:
        result = command(*output["command"], stdin=Path(output["inputs"]).read_text(encoding="utf-8"))
        result.succeeds()
        found = [json.loads(line) for line in result.out.splitlines()]
        expected = [_by_present_ways(line) for line in output["lines"]]
        assert difference(found, expected) == "", " ".join(output["command"])


def test_an_earlier_run_continues_as_it_would_have(command: Command, earlier: dict[str, Any]):
    after, losses = earlier["continued"]["after"], earlier["continued"]["losses"]
    command(*earlier["continued"]["command"]).succeeds(f"Continuing from step {after} ")
    entries = map(json.loads, Path("run/metrics.jsonl").read_text(encoding="utf-8").splitlines())
    found = {entry["step"]: entry["loss"] for entry in entries if entry["kind"] == "train" and entry["step"] > after}
    expected = dict(enumerate(losses, start=after + 1))
    assert found == pytest.approx(expected, rel=0.0, abs=LOSS)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_an_earlier_recipe_is_valid(command: Command, path: Path):
    command("validate", "--no-files", path).succeeds(f"{path.name} is valid.")
