"""What `manyheads recipe new` prints is a recipe, and has every key."""

import re
from collections.abc import Iterator

import yaml
from pydantic import BaseModel

from manyheads.config.messages import section_of
from manyheads.config.recipe import parse_recipe
from manyheads.config.schema import Recipe
from manyheads.config.template import REPEATED, recipe_template, reference_page


def keys(section: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in section.model_fields.items():
        inner = section_of(field.annotation)
        if inner and ".".join((*path, name)) not in REPEATED:
            yield from keys(inner, (*path, name))
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


def test_every_key_is_in_the_template():
    values = yaml.safe_load(uncommented(recipe_template()))
    missing = [path for path in keys(Recipe) if not found(values, path)]
    assert not missing


def test_every_key_of_the_template_is_explained():
    for line in recipe_template().splitlines():
        if ":" in line and not line.startswith("# A Manyheads recipe"):
            assert re.search(r":( .+)?  # .+\.$", line), line


def test_every_key_is_in_the_reference_once():
    rows = [line.split("|")[1].strip(" `") for line in reference_page().splitlines()[2:]]
    assert rows == [".".join(path) for path in keys(Recipe)]
