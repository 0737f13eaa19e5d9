"""What `manyheads recipe new` prints is a recipe, and has every key."""

import re
from collections.abc import Iterator

import pytest
import yaml
from pydantic import BaseModel

from manyheads.config.reading import parse_recipe
from manyheads.config.tasks import TASKS, recipe_class
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.template import REPEATED, recipe_template, reference_page
from manyheads.config.unions import members_by_kind, sections_of
from manyheads.errors import ManyheadsError


def keys(section: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every key that the template shows: of several kinds of a section, those of the default one."""
    for name, field in section.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        inner = [type(default)] if isinstance(default, BaseModel) else sections_of(field.annotation)
        if inner and ".".join((*path, name)) not in REPEATED:
            yield from keys(inner[0], (*path, name))
        else:
            yield (*path, name)


def all_keys(section: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every key there is, of every kind of a section."""
    for name, field in section.model_fields.items():
        inner = [] if ".".join((*path, name)) in REPEATED else sections_of(field.annotation)
        if inner:
            yield from dict.fromkeys(key for one in inner for key in all_keys(one, (*path, name)))
        else:
            yield (*path, name)


def uncommented(template: str) -> str:
    """Return the template with the '# ' in front of every key that is left out by default taken away."""
    return re.sub(r"^( *)# (  )?(\w+:)", r"\1\2\3", template, flags=re.MULTILINE)


def found(values: object, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True


def test_the_template_is_a_recipe_with_the_defaults():
    recipe = parse_recipe(recipe_template())
    plain = parse_recipe("data: {train: {source: train.en, target: train.de}}")
    assert recipe.data.train == plain.data.train
    assert recipe.data.valid is not None
    for section in ("tokenizer", "model", "training", "validation", "decoding", "name", "seed", "task"):
        assert getattr(recipe, section) == getattr(plain, section), section


@pytest.mark.parametrize("task", TASKS)
def test_every_key_is_in_the_template(task: str):
    values = yaml.safe_load(uncommented(recipe_template(task)))
    missing = [path for path in keys(recipe_class(task)) if not found(values, path)]
    assert not missing


@pytest.mark.parametrize(
    ("task", "model"),
    [(task, kind) for task in TASKS for kind in members_by_kind(recipe_class(task).model_fields["model"].annotation)],
)
def test_the_template_of_every_task_and_model_is_a_recipe(task: str, model: str):
    recipe = parse_recipe(recipe_template(task, model))
    assert (recipe.task, recipe.model.kind) == (task, model)


def test_an_unknown_task_or_model_is_refused_with_the_nearest():
    with pytest.raises(ManyheadsError, match="Did you mean 'translation'"):
        recipe_template("translatoin")
    with pytest.raises(ManyheadsError, match="Did you mean 'transformer'"):
        recipe_template("translation", "transfomer")


def test_every_key_of_the_template_is_explained():
    for line in recipe_template().splitlines():
        if ":" in line and not line.startswith("# A Manyheads recipe"):
            assert re.search(r":( .+)?  # .+\.$", line), line


def test_every_key_is_in_the_reference_once():
    rows = [line.split("|")[1].strip(" `") for line in reference_page().splitlines()[2:]]
    assert len(set(rows)) == len(rows)
    assert set(rows) == {".".join(path) for path in all_keys(TranslationRecipe)}
