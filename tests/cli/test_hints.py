"""A command in a hint or in a card works when it is pasted, whatever the folder is called."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bert import tiny_folder

Command = Callable[..., Any]


@pytest.fixture(params=["my runs", "it's $HOME; #1"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder whose name a shell would take for something else."""
    (tmp_path / request.param).mkdir()
    return tmp_path / request.param


def pasted(text: str, lead: str) -> list[str]:
    """Return the words, as a shell has them, of the command that follows a lead on its line."""
    (found,) = re.findall(rf"{re.escape(lead)}manyheads (.*?)(?: \|)?$", text, re.MULTILINE)
    return shlex.split(found, comments=True)


def test_training_says_how_to_use_the_model_and_how_it_was_made(
    command: Command, sprint: Callable[..., Path], folder: Path
):
    result = command("train", sprint(), "--out", folder / "run")
    command(*pasted(result.succeeds(), "To use it: "), "a b").succeeds()
    card = (folder / "run" / "card.md").read_text(encoding="utf-8")
    command(*pasted(card, "| command | ")).succeeds("nothing to do")


def test_an_import_says_how_to_use_the_model(command: Command, folder: Path):
    result = command("import", tiny_folder(folder / "theirs"), "--out", folder / "run")
    words = pasted(result.succeeds(), "try: ")
    command(*words, stdin="a b\n").succeeds()
    said = command("translate", "--model", folder / "run", "a").refuses("this run is a model for encoding")
    assert pasted(said, "Use it with: ") == words


def test_a_bert_says_how_to_use_it(command: Command, folder: Path):
    recipe = Path(__file__).parents[2] / "recipes" / "bert-words.yaml"
    quick = ["training.steps=1", "data.train.count=50", "data.valid.count=5", "vocabulary=80"]
    changes = [word for change in quick for word in ("--set", change)]
    result = command("train", recipe, "--out", folder / "run", *changes)
    command(*pasted(result.succeeds(), "To use it: "), stdin="a b\n").succeeds()


def test_a_new_recipe_says_how_to_train_it(command: Command, folder: Path):
    result = command("recipe", "new", folder / "new.yaml")
    assert pasted(result.succeeds(), "then: ") == ["train", str(folder / "new.yaml")]


def test_a_server_says_how_to_name_languages(command: Command, sprint: Callable[..., Path], folder: Path):
    command("train", sprint({"training.steps": 1}), "--out", folder / "run").succeeds()
    said = command("serve", folder / "run").refuses("does not name its languages")
    assert pasted(said, "Name them here: ") == ["serve", f"en-de={folder / 'run'}"]
