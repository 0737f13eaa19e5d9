"""Recipes are read, laid over presets, changed from the command line, and written so that they read the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyheads.config.models.transformer import SIZES
from manyheads.config.reading import load_recipe, merged, parse_change, parse_recipe, recipe_text
from manyheads.errors import ManyheadsError

MINIMAL = "data: {train: {task: copy}}\n"


def test_the_preset_gives_way_to_the_recipe_and_the_recipe_to_the_change():
    text = MINIMAL + "model: {preset: big, dropout: 0.2, heads: 8}\ntraining: {steps: 5}\n"
    recipe = parse_recipe(text, ["model.heads=4", "training.steps=7"])
    assert recipe.model.width == SIZES["big"]["width"] == 1024
    assert recipe.model.dropout == 0.2
    assert recipe.model.heads == 4
    assert recipe.training.steps == 7


def test_a_preset_may_come_from_a_change():
    assert parse_recipe(MINIMAL, ["model.preset=tiny"]).model.width == 128
    assert parse_recipe(MINIMAL, ["model.preset=tiny", "model.width=64"]).model.width == 64


def test_the_last_change_wins():
    assert parse_recipe(MINIMAL, ["seed=3", "seed=4"]).seed == 4


@pytest.mark.parametrize(
    ("change", "values"),
    [
        ("seed=3", {"seed": 3}),
        ("a.b.c=x", {"a": {"b": {"c": "x"}}}),
        ("a = 1.5", {"a": 1.5}),
        ("a=[1, 2]", {"a": [1, 2]}),
        ("a={b: 1}", {"a": {"b": 1}}),
        ("a=", {"a": None}),
        ("a=b=c", {"a": "b=c"}),
        ("a=true", {"a": True}),
    ],
)
def test_a_change_is_a_dotted_key_and_a_yaml_value(change: str, values: object):
    assert parse_change(change) == values


@pytest.mark.parametrize("change", ["training.steps", "=5", " =5", ""])
def test_a_change_without_key_or_value_is_refused(change: str):
    with pytest.raises(ManyheadsError, match="is not a change") as caught:
        parse_change(change)
    assert caught.value.where == "--set"
    assert "key=value" in str(caught.value.cure)


def test_a_change_that_is_no_yaml_is_refused():
    with pytest.raises(ManyheadsError, match=r"--set: the value in 'seed=\[1' is not valid YAML"):
        parse_change("seed=[1")


NESTED = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3),
)
MAPPINGS = st.dictionaries(st.text("ab", min_size=1, max_size=2), NESTED, max_size=3)


@given(MAPPINGS, MAPPINGS)
def test_what_is_laid_over_wins_and_nothing_else_changes(under: dict, over: dict):
    before = repr(under), repr(over)
    result = merged(under, over)
    assert set(result) == {*under, *over}
    for key, value in result.items():
        if key not in over:
            assert value == under[key]
        elif isinstance(over[key], dict) and isinstance(under.get(key), dict):
            assert value == merged(under[key], over[key])
        else:
            assert value == over[key]
    assert (repr(under), repr(over)) == before


@pytest.mark.parametrize(
    "changes",
    [
        [],
        ["model.preset=big", "name='größer: [a]'"],
        ["tokenizer.shared=false", "tokenizer.target.kind=characters", "model.tie=none"],
        ["training.epsilon=1.0e-12", "training.betas=[0.5, 0.75]", "seed=-3"],
        ["data.valid.task=sort", "data.valid.options={symbols: 3}", "model.vectors.source=glove.txt"],
    ],
)
def test_a_recipe_reads_as_it_was_written(changes: list[str]):
    recipe = parse_recipe(MINIMAL, changes)
    again = parse_recipe(recipe_text(recipe))
    assert again == recipe
    assert recipe_text(again) == recipe_text(recipe)


RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda one: one.stem)
def test_every_shipped_recipe_is_valid(path: Path):
    recipe = load_recipe(path)
    assert recipe.name == path.stem


def test_a_missing_recipe_is_named_with_a_cure(tmp_path: Path):
    with pytest.raises(ManyheadsError, match=r"no such recipe.*manyheads recipe new") as caught:
        load_recipe(tmp_path / "no.yaml")
    assert caught.value.where == str(tmp_path / "no.yaml")


def test_what_is_no_text_is_no_recipe(tmp_path: Path):
    (tmp_path / "latin1.yaml").write_bytes(b"name: na\xefve\n")
    (tmp_path / "plain").write_text("data")
    for path in (tmp_path, tmp_path / "latin1.yaml", tmp_path / "plain" / "recipe.yaml"):
        with pytest.raises(ManyheadsError) as caught:
            load_recipe(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "- data\n", "words\n", "3\n"])
def test_a_recipe_is_a_mapping(text: str):
    with pytest.raises(ManyheadsError, match="mapping of keys to values"):
        parse_recipe(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: x\ndata: {train: {task: copy}\n", 3),
        ("name: x\ndata:\n\ttrain: 3\n", 3),
        ("name: [\n", 2),
        ("a: b: c\n", 1),
        ("name: &a\nseed: *b\n", 2),
    ],
)
def test_invalid_yaml_is_told_with_its_line(text: str, line: int):
    with pytest.raises(ManyheadsError, match="not valid YAML") as caught:
        parse_recipe(text, origin="recipe.yaml")
    assert caught.value.where in (f"recipe.yaml:{line}", f"recipe.yaml:{line - 1}")


def test_signs_that_yaml_forbids_are_told():
    with pytest.raises(ManyheadsError, match="recipe: this is not valid YAML"):
        parse_recipe("name: x\nseed: \x07\n")


def test_a_key_given_twice_is_refused():
    with pytest.raises(ManyheadsError, match=r"line 3.*seed|seed.*(twice|again)"):
        parse_recipe(MINIMAL + "seed: 1\nseed: 2\n")
