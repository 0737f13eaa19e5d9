"""What a shell offers while a command is typed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from manyheads.config.tasks.reading import ReadingRecipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.values import Metric
from manyheads.data.public.catalogue import CATALOGUE
from manyheads.decoding.engines.choice import ENGINES, PRECISIONS
from manyheads.runs.shipped import shipped_models
from run_folders import make_multilingual_run

Offer = Callable[..., list[str]]
SHIPPED = [model.name for model in shipped_models()]
RECIPES = Path(__file__).parents[2] / "recipes"

INSIDE = """
import sys
from manyheads.cli import main
sys.argv = ["manyheads"]
try:
    main()
finally:
    print("torch" in sys.modules)
"""


@pytest.fixture
def offered(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Offer:
    """`offered("translate", "--to", "")` returns what bash would offer for the last word."""

    def ask(*words: object) -> list[str]:
        monkeypatch.setenv("_MANYHEADS_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["manyheads", *map(str, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        result = command()
        assert result.err == ""
        return str(result.out).split()

    return ask


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in runs/several that writes three languages."""
    path = tmp_path_factory.mktemp("desk")
    (path / "runs").mkdir()
    (path / "empty").mkdir()
    make_multilingual_run(path / "runs" / "several")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["translate", "--model"],
        ["inspect", "--model"],
        ["inspect"],
        ["inspect", "--against"],
        ["score"],
        ["evaluate"],
        ["evaluate", "runs/several", "--against"],
        ["encode", "--model"],
        ["classify", "--model"],
        ["answer", "--model"],
        ["serve"],
        ["export"],
        ["shortlist"],
        ["train", "--start-from"],
    ],
    ids=" ".join,
)
def test_models_are_offered(offered: Offer, folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]):
    monkeypatch.chdir(folder)
    assert offered(*words, "") == [*SHIPPED, "runs/several"]


def test_runs_elsewhere_are_offered_as_they_are_typed(offered: Offer, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder / "runs")
    assert offered("translate", "--model", "sev") == ["several"]
    assert offered("translate", "--model", "../r") == ["../runs/several"]
    assert offered("translate", "--model", f"{folder}/") == [f"{folder}/runs/several"]
    assert offered("translate", "--model", "/nowhere/") == []


def test_languages_of_the_chosen_model_are_offered(offered: Offer, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    assert set(offered("translate", "--model", "runs/several", "--to", "")) == {"fr", "de", "en"}
    assert offered("translate", "--model", "runs/several", "--to", "f") == ["fr"]
    assert set(offered("evaluate", "runs/several", "--to", "")) == {"fr", "de", "en"}
    assert set(offered("translate", "--to", "")) == set(shipped_models()[0].languages)
    assert offered("translate", "--model", "empty", "--to", "") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["data", "get"], [corpus.name for corpus in CATALOGUE]),
        (["translate", "--engine"], list(ENGINES)),
        (["serve", "--engine"], list(ENGINES)),
        (["translate", "--precision"], list(PRECISIONS)),
        (["translate", "--device"], ["auto", "cpu", "cuda", "mps"]),
        (["evaluate", "--metric"], [name for name in get_args(Metric) if name != "loss"]),
        (["inspect", "--kind"], ["encoder", "decoder", "cross"]),
    ],
    ids=str,
)
def test_names_are_offered(offered: Offer, words: list[str], expected: list[str]):
    assert offered(*words, "") == expected
    assert offered(*words, expected[-1][:3]) == [name for name in expected if name.startswith(expected[-1][:3])]


def test_keys_of_the_recipe_are_offered(offered: Offer):
    assert offered("train", "--set", "training.ste") == ["training.steps="]
    assert offered("validate", RECIPES / "bert-words.yaml", "--set", "masking.s") == ["masking.share="]
    for schema, file in ((TranslationRecipe, "dates.yaml"), (ReadingRecipe, "bert-kinds.yaml")):
        sections = {key.split(".")[0].rstrip("=") for key in offered("train", RECIPES / file, "--set", "")}
        assert sections == set(schema.model_fields)
    assert "training.steps=" in offered("train", "missing.yaml", "--set", "")


def test_completing_imports_no_torch(folder: Path):
    for words in (["translate", "--model", ""], ["translate", "--to", ""], ["train", "--set", ""], ["data", "get", ""]):
        asked = {"COMP_WORDS": " ".join(["manyheads", *words]), "COMP_CWORD": str(len(words))}
        environment = {**os.environ, **asked, "_MANYHEADS_COMPLETE": "complete_bash"}
        done = subprocess.run(
            [sys.executable, "-c", INSIDE], env=environment, capture_output=True, text=True, cwd=folder
        )
        assert done.stdout.split()[-1] == "False" and len(done.stdout.split()) > 1, done.stderr


def test_nothing_is_gathered_before_it_is_asked_for():
    script = "import sys, manyheads.cli.translate\nprint([name for name in sys.modules if name in sys.argv])"
    unneeded = [
        "manyheads.data.public.catalogue",
        "manyheads.config.template",
        "manyheads.runs.shipped",
        "pydantic",
        "rich",
    ]
    done = subprocess.run([sys.executable, "-c", script, *unneeded], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
