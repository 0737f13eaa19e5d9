"""A run that starts from another: its tokenizers, its weights, and a sentence where the models differ."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.config.recipe import load_recipe
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import parameter_arrays
from manyheads.runs.weights import read_weights
from manyheads.training.preparation import fresh_model, prepare


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
    parts = prepare(load_recipe(sprint(other(base))), RunFolder(tmp_path / "run"), threads=1, tell=said.append)
    assert parts.tokenizers.files() == RunFolder(base).tokenizers().files()
    model = fresh_model(parts, device="cpu", tell=said.append)  # type: ignore[arg-type]
    weights = read_weights(base / "model.safetensors")
    for name, array in parameter_arrays(model).items():
        assert (array == weights[name]).all()
    assert f"Starting from the weights of {base}." in said


def test_it_goes_on_from_its_own_checkpoints(
    base: Path, sprint: Callable[..., Path], tmp_path: Path, command: Callable[..., Any]
):
    recipe = sprint(other(base))
    command("train", recipe, "--out", tmp_path / "whole").succeeds("Starting from the weights of")
    command("train", recipe, "--out", tmp_path / "parts", "--set", "training.steps=6").succeeds()
    command("train", recipe, "--out", tmp_path / "parts").succeeds("Going on from step 6")
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
