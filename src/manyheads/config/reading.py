"""Reading, merging and writing recipes. What comes later wins: preset < recipe < `--set key=value`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from manyheads.bounded.files import MOST_SETTINGS, read_bytes
from manyheads.bounded.yaml_text import DEEPEST, compose, construct, parse
from manyheads.config.cut import CutSettings
from manyheads.config.messages import LONGEST_SHOWN, KeyPath, build, key_lines
from manyheads.config.recipe import RecipeBase, in_order
from manyheads.config.tasks import TASKS, recipe_class
from manyheads.errors import ManyheadsError, did_you_mean

if TYPE_CHECKING:
    from manyheads.config.tasks import Recipe

R = TypeVar("R", bound=RecipeBase)

DEFAULT_TASK = "translation"


def load_recipe(path: Path, changes: Iterable[str] = ()) -> Recipe:
    """Read a recipe and apply changes such as `training.steps=1000`."""
    return parse_recipe(_read(path), changes, origin=str(path))


def load_recipe_for(kind: type[R], path: Path, changes: Iterable[str] = ()) -> R:
    """Read a recipe of one task; a recipe of another task is an error."""
    return of_task(kind, load_recipe(path, changes), origin=str(path))


def recipe_values(path: Path) -> dict[str, Any]:
    """Return the values written in a recipe: without defaults and presets, and unchecked."""
    return _parse(_read(path), origin=str(path))[0]


def load_cut(path: Path) -> CutSettings:
    """Read the settings of `manyheads data cut`."""
    values, lines = _parse(_read(path), origin=str(path))
    return build(CutSettings, values, origin=str(path), lines=lines)


def _read(path: Path) -> str:
    """Return the text of a recipe."""
    try:
        return read_bytes(path, most=MOST_SETTINGS).decode("utf-8-sig")
    except FileNotFoundError:
        raise ManyheadsError(
            "there is no such recipe.",
            where=str(path),
            cure="'manyheads recipe new' writes one to start from.",
        ) from None
    except UnicodeDecodeError:
        raise ManyheadsError("this is not a recipe: it is not UTF-8 text.", where=str(path)) from None
    except OSError as error:
        raise ManyheadsError(f"this is not a recipe: {error.strerror}.", where=str(path)) from None


def parse_recipe(text: str, changes: Iterable[str] = (), *, origin: str = "recipe") -> Recipe:
    """Read a recipe from YAML text."""
    values, lines = _parse(text, origin=origin)
    for change in changes:
        values = merged(values, parse_change(change))
    return build_recipe(values, origin=origin, lines=lines)


def _parse(text: str, *, origin: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    """Return the keys and values of YAML text, and the line of each key."""
    try:
        root = compose(text)
        values, lines = construct(root), key_lines(root, origin=origin)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{origin}:{mark.line + 1}" if mark else origin
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise ManyheadsError(f"this is not valid YAML: {problem}.", where=place) from None
    if not isinstance(values, dict):
        raise ManyheadsError("a recipe is a YAML mapping of keys to values.", where=origin)
    return values, lines


def of_task(kind: type[R], recipe: RecipeBase, *, origin: str = "recipe") -> R:
    """Return a recipe, typed as one of the given task; a recipe of another task is an error."""
    if isinstance(recipe, kind):
        return recipe
    expected = str(kind.model_fields["task"].default).replace("_", " ")
    raise ManyheadsError(f"this is about {recipe.task.replace('_', ' ')}, not about {expected}.", where=origin)


def build_recipe(
    values: Mapping[str, Any], *, origin: str = "recipe", lines: Mapping[KeyPath, int] | None = None
) -> Recipe:
    """Return values as the recipe of their task."""
    named = str(values.get("task", DEFAULT_TASK))
    task = next((one for one in TASKS if one == named), None)
    if task is None:
        line = f"line {lines[('task',)]}: " if lines and ("task",) in lines else ""
        raise ManyheadsError(
            f"{line}'task' = {named!r}: there is no such task.", where=origin, cure=did_you_mean(named, TASKS)
        )
    return build(recipe_class(task), values, origin=origin, lines=lines)


def parse_change(change: str) -> dict[str, Any]:
    """Turn `a.b=c` into {a: {b: c}}, the value read as YAML."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise ManyheadsError(
            f"'{change}' is not a change.", where="--set", cure="Write it as key=value: training.steps=1000"
        )
    try:
        nested: Any = parse(value)
    except yaml.YAMLError:
        raise ManyheadsError(f"the value in '{change[:LONGEST_SHOWN]}' is not valid YAML.", where="--set") from None
    if len(parts := key.strip().split(".")) > DEEPEST:
        raise ManyheadsError(f"a key has at most {DEEPEST} parts, not {len(parts):,}.", where="--set")
    for part in reversed(parts):
        nested = {part: nested}
    result: dict[str, Any] = nested
    return result


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `under` updated with the values of `over`, section by section."""
    return {**under, **{key: _laid_over(under.get(key), value) for key, value in over.items()}}


def _laid_over(below: Any, value: Any) -> Any:  # noqa: ANN401
    """Return a value merged into the one below; the keys of a list's entries are numbers from 0."""
    if isinstance(below, dict) and isinstance(value, dict):
        return merged(below, value)
    places = [str(place) for place in range(len(below))] if isinstance(below, list) else []
    if isinstance(value, dict) and value and set(value) <= set(places):
        return [
            _laid_over(below[int(place)], value[place]) if place in value else below[int(place)] for place in places
        ]
    return value


def recipe_text(recipe: RecipeBase) -> str:
    """Return the recipe as YAML with every key resolved."""
    values = in_order(recipe.model_dump(mode="json", exclude_none=True))
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
