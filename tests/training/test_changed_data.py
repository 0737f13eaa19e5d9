"""Data that changes under a run is named and stops it, unless the user accepts it; then the card says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Contents = Callable[[Path], dict[str, bytes]]
WriteRecipe = Callable[..., Path]

LINES = [f"a b {letter}" for letter in "cdefgh"] * 10


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


class Case:
    """A run that has learned from two files for 3 of 6 steps, and validates on two others."""

    def __init__(self, folder: Path, command: Command, recipe: WriteRecipe, **changes: object) -> None:
        self.files = {
            name: write(folder / name, LINES) for name in ("source", "target", "valid.source", "valid.target")
        }
        train, valid = (
            {side: str(self.files[f"{part}{side}"]) for side in ("source", "target")} for part in ("", "valid.")
        )
        self.recipe = recipe({"data.train": train, "data.valid": valid, "training.steps": 3, **changes})
        self.run, self._command = folder / "run", command
        self.train(steps=3).succeeds()

    def train(self, *options: str, steps: int = 6) -> Any:
        return self._command("train", self.recipe, "--out", self.run, "--set", f"training.steps={steps}", *options)

    def recorded(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run / "inputs.json").read_text())
        return found


@pytest.fixture
def case(tmp_path: Path, command: Command, sprint: WriteRecipe) -> Case:
    return Case(tmp_path, command, sprint)


def test_every_file_stands_in_the_run_folder(case: Case):
    found = [(one["role"], one["name"], one["lines"]) for one in case.recorded()["files"]]
    assert found == [
        ("training", "source", len(LINES)),
        ("training", "target", len(LINES)),
        ("validation", "valid.source", len(LINES)),
        ("validation", "valid.target", len(LINES)),
    ]


CHANGES: dict[str, Callable[[Path], Any]] = {
    "longer": lambda path: write(path, [*LINES, "a"]),
    "shorter": lambda path: write(path, LINES[:-1]),
    "other": lambda path: write(path, ["h", *LINES[1:]]),
}
NOW = {"longer": len(LINES) + 1, "shorter": len(LINES) - 1, "other": len(LINES)}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["source", "valid.target"])
def test_a_change_is_named_with_the_lines_and_nothing_is_touched(
    case: Case, contents: Contents, name: str, change: str
):
    before = contents(case.run)
    CHANGES[change](case.files[name])
    sentence = case.train().refuses(f"{name} ({len(LINES)} lines, now {NOW[change]} lines)", "--accept-changed-data")
    assert sentence.count("lines, now") == 1
    assert contents(case.run) == before


def test_an_accepted_change_is_on_the_card(case: Case):
    for name in ("source", "target"):
        write(case.files[name], [*LINES, "a b"])
    case.train("--accept-changed-data").succeeds("Going on with data that has changed", "Continuing from step 3")
    card = (case.run / "card.md").read_text()
    assert f"from step 3 on: {case.files['source']} ({len(LINES)} lines, now {len(LINES) + 1} lines)" in card
    assert [one["step"] for one in case.recorded()["changes"]] == [3]
    case.train(steps=7).succeeds("Continuing from step 6")


def test_without_a_checkpoint_a_change_begins_the_run_again(tmp_path: Path, command: Command, sprint: WriteRecipe):
    case = Case(tmp_path, command, sprint)
    for path in (case.run / "checkpoints").glob("step-*"):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    for name in ("source", "target"):
        write(case.files[name], [*LINES, "x y z"])
    assert "Changed before anything was learned" in " ".join(case.train().succeeds("Trained the tokenizer").split())
    assert case.recorded()["changes"] == []


def test_a_run_of_an_earlier_version_goes_on_and_gets_the_record(case: Case):
    written = (case.run / "inputs.json").read_bytes()
    for name in ("inputs.json", "checksums.json", "copies/inputs.json"):
        (case.run / name).unlink()
    case.train().succeeds("Continuing from step 3")
    assert (case.run / "inputs.json").read_bytes() == written


def test_a_lexicon_and_the_weights_to_start_from_are_among_them(tmp_path: Path, command: Command, sprint: WriteRecipe):
    lexicon = write(tmp_path / "lexicon", ["en\tde", "a\tb"])
    files = {side: str(write(tmp_path / side, LINES)) for side in ("source", "target")}
    train = {**files, "source_language": "en", "target_language": "de", "lexicon": str(lexicon)}
    base = command("train", sprint({"training.steps": 1, "data.train": train, "data.valid": files}, name="base.yaml"),
                   "--out", tmp_path / "base")  # fmt: skip
    base.succeeds()
    changes = {"start_from": str(tmp_path / "base"), "data.train": train, "data.valid": files, "training.steps": 3}
    recipe = sprint(changes)
    command("train", recipe, "--out", tmp_path / "run").succeeds()
    record = json.loads((tmp_path / "run" / "inputs.json").read_text())
    assert {one["role"] for one in record["files"]} == {"training", "validation", "lexicon", "start_from"}
    command("train", sprint({**changes, "training.steps": 2, "seed": 5}, name="base.yaml"), "--out", tmp_path / "other")
    (tmp_path / "base" / "model.safetensors").write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    (tmp_path / "base" / "checksums.json").unlink()
    write(lexicon, ["en\tde", "a\tc", "b\td"])
    command("train", recipe, "--out", tmp_path / "run", "--set", "training.steps=4").refuses(
        f"{lexicon} (2 lines, now 3 lines)", "base/model.safetensors (", "bytes, now"
    )
