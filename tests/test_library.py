"""The library: its functions do what the command does, take what they return, and print nothing by themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import manyheads
from manyheads import ManyheadsError
from manyheads.errors import Notice
from manyheads.runs.folder import RunFolder
from manyheads.training import costs
from manyheads.training.files import Files


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory, recipe_at: Callable[..., Path]) -> Path:
    return recipe_at(tmp_path_factory.mktemp("library") / "recipe.yaml")


@pytest.fixture(scope="module")
def run(recipe: Path) -> RunFolder:
    return manyheads.train(recipe, out=recipe.parent / "run")


@pytest.fixture
def known_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured, so that two descriptions are the same: this machine does 10⁹ FLOPs per second."""
    monkeypatch.setattr(costs, "matrix_product_peak", lambda: 1e9)


def test_a_run_can_be_passed_wherever_a_path_can(run: RunFolder):
    assert isinstance(manyheads.Translator(run).translate("a b"), str)
    assert manyheads.Inspector(run).translates
    assert manyheads.evaluate(run, count=5, against=[run]).against == (str(run.path),)
    assert manyheads.train(run.recipe(), out=run) == run


def test_nothing_is_printed(sprint: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    recipe = sprint()
    run = manyheads.train(recipe, out=tmp_path / "run")
    manyheads.evaluate(run, count=5)
    manyheads.validate(recipe)
    manyheads.describe(run)
    with pytest.warns(Notice, match="Translating with PyTorch"):
        manyheads.Translator(run).translate(["a b", ""], sample=True)
    manyheads.Inspector(run).everything("a b")
    assert capfd.readouterr() == ("", "")


def test_the_command_shows_a_notice_as_a_line(run: RunFolder, command: Callable[..., Any]):
    said = command("translate", "--model", run.path, "--sample", "a b").err
    assert said.startswith("note: Translating with PyTorch: ") and said.count("\n") == 1


def test_progress_is_what_the_command_shows(
    sprint: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Callable[..., Any]
):
    recipe = sprint()
    manyheads.train(recipe, out=tmp_path / "run", progress=True)
    shown = capsys.readouterr().err.replace(str(tmp_path / "run"), "RUN")
    other = command("train", recipe, "--out", tmp_path / "other").err.replace(str(tmp_path / "other"), "RUN")
    without_times = [[line.split(" · ")[0] for line in text.splitlines()] for text in (shown, other)]
    assert without_times[0] == without_times[1]
    assert "step 12 of 12" in without_times[0]


@pytest.mark.parametrize("options", [{}, {"against": 1}, {"against": 2}])
def test_an_evaluation_is_what_the_command_prints(run: RunFolder, command: Callable[..., Any], options: dict[str, int]):
    others = [run.path] * options.get("against", 0)
    found = manyheads.evaluate(run.path, count=20, against=others)
    words = ["evaluate", run.path, "--count", 20, *(word for other in others for word in ("--against", other))]
    assert command(*words).out == f"{found}\n"
    assert json.loads(command(*words, "--json").out) == json.loads(json.dumps(found.to_json()))
    assert len(found.outputs) == found.examples == 20
    for score in found.scores:
        assert found[score.name] == score.value
    assert found["perplexity"] == found.perplexity


@pytest.mark.usefixtures("known_speed")
def test_a_description_is_what_the_command_prints(recipe: Path, run: RunFolder, command: Callable[..., Any]):
    for subject in (recipe, run.path):
        found = manyheads.describe(subject)
        assert command("describe", subject).out == f"{found}\n"
        assert json.loads(command("describe", subject, "--json").out) == found.to_json()
    assert manyheads.describe(run.recipe()).costs == manyheads.describe(recipe).costs
    wider = manyheads.describe(recipe, changes=["model.width=32"])
    assert wider.costs.parameters > manyheads.describe(recipe).costs.parameters


def test_a_valid_recipe_is_returned_with_every_key(recipe: Path, run: RunFolder):
    found = manyheads.validate(recipe, changes=["seed=7"])
    assert (found.recipe.seed, found.is_chosen) == (7, False)
    assert manyheads.validate(recipe).recipe == run.recipe()


def test_a_recipe_with_data_alone_is_completed(tmp_path: Path):
    (tmp_path / "pairs.tsv").write_text("a\tb\nc\td\n" * 50, encoding="utf-8")
    recipe = tmp_path / "data.yaml"
    recipe.write_text(f"data: {{train: {{pairs: {tmp_path / 'pairs.tsv'}}}}}\n", encoding="utf-8")
    assert manyheads.validate(recipe).is_chosen and manyheads.describe(recipe).is_chosen
    assert not manyheads.validate(recipe, files=False).is_chosen


def test_a_notebook_shows_results_as_they_are_printed(run: RunFolder):
    for found in (manyheads.evaluate(run, count=20), manyheads.describe(run)):
        assert unescape(found._repr_html_()) == f"<pre>{found}</pre>"
    assert "outputs" not in repr(manyheads.evaluate(run, count=20))  # of which there may be thousands
    compared = manyheads.evaluate(run, count=5, against=[run])  # whose text names the runs
    for odd in (replace(manyheads.describe(run), name="<script>"), replace(compared, run="<script>")):
        assert "<script>" not in odd._repr_html_() and "&lt;script&gt;" in odd._repr_html_()


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: manyheads.train(folder / "no.yaml"),
        lambda folder: manyheads.train(),
        lambda folder: manyheads.train("recipe.yaml", files=Files(source="a", target="b")),
        lambda folder: manyheads.evaluate(folder / "no"),
        lambda folder: manyheads.describe(folder / "no.yaml"),
        lambda folder: manyheads.validate(folder / "no.yaml"),
        lambda folder: manyheads.Translator(folder / "no"),
        lambda folder: manyheads.Encoder.from_folder(folder / "no"),
        lambda folder: manyheads.Inspector(folder / "no"),
    ],
)
def test_a_mistake_is_one_kind_of_error(call: Callable[[Path], object], tmp_path: Path):
    with pytest.raises(ManyheadsError):
        call(tmp_path)


def test_changes_need_a_recipe_in_a_file(run: RunFolder):
    with pytest.raises(ManyheadsError, match="change the recipe itself"):
        manyheads.describe(run.recipe(), changes=["seed=2"])
