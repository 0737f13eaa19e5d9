"""A run that starts from another: its tokenizers, its weights, and a sentence where the models differ."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import prepared
from manyheads.config.reading import load_recipe
from manyheads.data.generated import task
from manyheads.decoding.translator import Translator
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import model_arrays
from manyheads.runs.weights import read_weights
from manyheads.training.defaults import recipe_for_fine_tuning
from run_folders import make_multilingual_run


@pytest.fixture
def base(sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]) -> Path:
    """A run that was trained before."""
    run = tmp_path / "base"
    command("train", sprint(name="base.yaml"), "--out", run).succeeds()
    return run


def other(base: Path) -> dict[str, Any]:
    """Return changes that make another run, on other data, that starts from the base."""
    return {"start_from": str(base), "data.train.seed": 7, "data.train.count": 100, "model.dropout": 0.2, "seed": 9}


def test_it_starts_with_the_other_runs_weights(base: Path, sprint: Callable[..., Path], tmp_path: Path):
    said: list[str] = []
    parts = prepared(load_recipe(sprint(other(base))), RunFolder(tmp_path / "run"), said.append)
    assert parts.tokenizers.files() == RunFolder(base).tokenizers().files()
    model = parts.new_model(device="cpu", tell=said.append)  # type: ignore[arg-type]
    weights = read_weights(base / "model.safetensors")
    for name, array in model_arrays(model).items():
        assert (array == weights[name]).all()
    assert f"Starting from the weights of {base}." in said


def test_it_goes_on_from_its_own_checkpoints(
    base: Path, sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]
):
    recipe = sprint(other(base))
    command("train", recipe, "--out", tmp_path / "whole").succeeds("Starting from the weights of")
    command("train", recipe, "--out", tmp_path / "parts", "--set", "training.steps=6").succeeds()
    command("train", recipe, "--out", tmp_path / "parts").succeeds("Continuing from step 6")
    one, two = ((tmp_path / run / "model.safetensors").read_bytes() for run in ("whole", "parts"))
    assert one == two
    assert one != (base / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"model.width": 32}, "model.width"),
        ({"model.norm": "pre"}, "model.norm"),
        ({"tokenizer.start": "end"}, "start"),
    ],
)
def test_another_model_is_refused_by_the_names_of_its_settings(
    base: Path,
    sprint: Callable[..., Path],
    tmp_path: Path,
    command: Callable[..., Any],
    changes: dict[str, Any],
    key: str,
):
    recipe = sprint({**other(base), **changes})
    command("train", recipe, "--out", tmp_path / "run").refuses("start_from", "differs in: ", key, "recipe.yaml")


def test_a_run_that_is_not_there_is_told(sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]):
    recipe = sprint({"start_from": str(tmp_path / "nowhere")})
    command("train", recipe, "--out", tmp_path / "run").refuses("there is no such run folder", "nowhere")


@pytest.mark.parametrize("length", [10, 100])
def test_the_name_of_a_tuned_run_is_never_too_long(tmp_path: Path, length: int):
    base = make_multilingual_run(tmp_path / "base")
    text = base.recipe_file.read_text(encoding="utf-8")
    base.recipe_file.write_text(text.replace(f"name: {base.recipe().name}\n", f"name: {'x' * length}\n"))
    (tmp_path / "a.txt").write_text("a\n")
    files = {"source": str(tmp_path / "a.txt"), "target": str(tmp_path / "a.txt")}
    tuned = recipe_for_fine_tuning(base, files, to="fr")
    assert tuned.name == "x" * min(length, 94) + "-tuned"


def test_two_files_go_on_from_a_model_of_several_languages(command, tmp_path):
    base = make_multilingual_run(tmp_path / "base").path
    pairs = list(task("dates").pairs("train", count=60))
    (tmp_path / "a.txt").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "b.txt").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    files = ["--source", tmp_path / "a.txt", "--target", tmp_path / "b.txt", "--start-from", base]
    command("train", *files, "--out", tmp_path / "run").refuses("fr, de, en; which of these is the target?")
    result = command("train", *files, "--to", "fr", "--out", tmp_path / "run", "--set", "training.steps=2")
    assert result.code == 0, result.err
    run = RunFolder.open(tmp_path / "run")
    assert run.recipe().data.tags == ("<2fr>",)
    assert run.tokenizers().source.model == RunFolder.open(base).tokenizers().source.model
    before, after = (read_weights(RunFolder.open(one).weights_file)["output"] for one in (base, run.path))
    assert 0 < abs(before - after).max() < 0.01  # it began there, and took two small steps
    assert Translator(run.path).translate("3 May 2021", to="fr")
    command("train", *files[:4], "--to", "fr", "--out", tmp_path / "other").refuses("a model to start from")
