"""Two text files are enough: the recipe chosen for them fits their size, and what the user says wins."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.config.recipe import parse_recipe, recipe_text
from manyheads.errors import ManyheadsError
from manyheads.training import defaults
from manyheads.training.defaults import SIZES, recipe_for_files

Files = tuple[Path, Path]


def write(folder: Path, lines: int, *, name: str = "train", words: int = 5) -> Files:
    """Write two parallel files with so many different sentences."""
    files = folder / f"{name}.en", folder / f"{name}.de"
    for path, word in zip(files, ("house", "haus"), strict=True):
        path.write_text("".join(f"{word}{i} {' '.join([word] * (words - 1))}\n" for i in range(lines)))
    return files


def test_the_recipe_is_a_recipe(tmp_path: Path):
    source, target = write(tmp_path, 300)
    recipe = recipe_for_files(source, target)
    assert parse_recipe(recipe_text(recipe)) == recipe
    assert recipe.name == "train"
    assert (recipe.data.train.source, recipe.data.train.target) == (str(source), str(target))
    assert recipe.data.valid is None
    assert recipe.data.held_out == 15


@pytest.mark.parametrize(
    ("file", "name"), [("corpus.en-de.de", "corpus"), (".hidden.de", "run"), ("a:b\n.de", "a-b-"), (" x.de", "x")]
)
def test_the_name_is_that_of_the_target(tmp_path: Path, file: str, name: str):
    source, target = write(tmp_path, 5)
    assert recipe_for_files(source, target.rename(tmp_path / file)).name == name


@pytest.mark.parametrize(
    ("pairs", "preset", "vocabulary"),
    [
        (1, "tiny", None),
        (5_000, "tiny", None),
        (5_001, "tiny", 4000),
        (100_001, "small", 16_000),
        (2_000_000, "base", 32_000),
    ],
)
def test_larger_corpora_get_larger_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: int, preset: str, vocabulary: int | None
):
    monkeypatch.setattr(defaults, "_measure", lambda settings: (pairs, 60 * pairs, pairs))
    recipe = recipe_for_files(tmp_path / "a.en", tmp_path / "a.de")
    assert recipe.model.preset == preset
    assert recipe.tokenizer.vocabulary == vocabulary
    assert 1 <= recipe.data.held_out <= 1000
    assert recipe.training.schedule.warmup < recipe.training.steps
    assert recipe.validation.every <= recipe.training.steps
    size = next(one for one in SIZES if pairs <= one.pairs)
    tokens = recipe.training.steps * recipe.training.batch_tokens
    assert tokens >= size.epochs * 60 * pairs / 4 * 0.99, "each sentence is seen as often as it should be"


def test_steps_follow_the_longer_side(tmp_path: Path):
    source, target = write(tmp_path, 1000)
    target.write_text("".join(f"{line} {'x' * 2000}\n" for line in target.read_text().splitlines()))
    long = recipe_for_files(source, target).training.steps
    assert recipe_for_files(target, source).training.steps == long
    assert long > recipe_for_files(source, source).training.steps


def test_validation_files_are_used_where_they_are_given(tmp_path: Path):
    source, target = write(tmp_path, 300)
    valid = write(tmp_path, 10, name="valid")
    recipe = recipe_for_files(source, target, valid=valid)
    assert recipe.data.held_out == 0
    assert recipe.data.valid is not None
    assert (recipe.data.valid.source, recipe.data.valid.target) == (str(valid[0]), str(valid[1]))


def test_what_the_user_says_wins(tmp_path: Path):
    changes = ["training.steps=7", "model.preset=small", "name=mine", "data.held_out=3", "model.dropout=0.5"]
    recipe = recipe_for_files(*write(tmp_path, 300), changes=changes)
    assert (recipe.training.steps, recipe.name, recipe.data.held_out) == (7, "mine", 3)
    assert (recipe.model.width, recipe.model.dropout) == (256, 0.5)


def test_a_mistake_in_the_files_is_told(tmp_path: Path):
    source, target = write(tmp_path, 5)
    target.write_text("one line\n")
    with pytest.raises(ManyheadsError, match="the source has 5 lines but the target has 1"):
        recipe_for_files(source, target)


def test_a_mistake_in_a_change_is_told(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="Did you mean 'training'"):
        recipe_for_files(*write(tmp_path, 5), changes=["trainig.steps=7"])


QUICK = [
    word
    for change in (
        "training.steps=2",
        "training.threads=1",
        "model.width=16",
        "model.heads=2",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
        "model.feed_forward=16",
        "decoding.extra_length=3",
        "validation.samples=0",
    )
    for word in ("--set", change)
]


@pytest.mark.parametrize("lines", [2, 10, 20, 25, 60])
def test_a_handful_of_lines_is_enough(tmp_path: Path, command: Callable[..., Any], lines: int):
    source, target = write(tmp_path, lines)
    run = tmp_path / "run"
    result = command("train", "--source", source, "--target", target, "--out", run, *QUICK)
    result.succeeds("Chose a ", "recipe.yaml", "Finished at step 2.")
    command("train", "--source", source, "--target", target, "--out", run, *QUICK).succeeds("nothing to do")
    command("train", run / "recipe.yaml", "--out", run).succeeds("nothing to do")


def test_training_on_files_with_validation_files(tmp_path: Path, command: Callable[..., Any]):
    source, target = write(tmp_path, 60)
    valid_source, valid_target = write(tmp_path, 7, name="valid")
    words = ["train", "--source", source, "--target", target, "--out", tmp_path / "run", *QUICK]
    result = command(*words, "--valid-source", valid_source, "--valid-target", valid_target)
    result.succeeds("60 training pairs", "7 for validation", "Finished at step 2.")
