"""The annotated recipe of `manyheads recipe new`, and the reference page, generated from the schema's descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from manyheads.config.data import CorpusSettings, TargetTokenizerSettings
from manyheads.config.messages import section_of
from manyheads.config.model import VectorSettings
from manyheads.config.schema import Recipe

_EXAMPLES: dict[str, str] = {
    "data.train.source": "train.en",
    "data.train.target": "train.de",
    "data.valid.source": "valid.en",
    "data.valid.target": "valid.de",
}


REPEATED = ("model.decoder_attention",)  # sections with the keys of another, `model.attention`


def recipe_template() -> str:
    """Return a recipe with every key, its default and its explanation; optional keys are commented out."""
    head = ["# A Manyheads recipe. Lines behind '#' show defaults; only data.train is required.", ""]
    return "\n".join([*head, *_section(Recipe, "", 0)]) + "\n"


def _section(section: type[BaseModel], path: str, depth: int) -> Iterator[str]:
    """Yield the lines of one section."""
    indent = "  " * depth
    for name, field in section.model_fields.items():
        key = f"{path}.{name}" if path else name
        inner = None if key in REPEATED else section_of(field.annotation)
        if inner in (TargetTokenizerSettings, VectorSettings):
            yield f"{indent}# {name}:  # {field.description}"
            yield from _commented(inner, depth + 1)
        elif inner is not None:
            yield f"{indent}{name}:  # {field.description}"
            yield from _section(inner, key, depth + 1)
        elif key in _EXAMPLES:
            yield f"{indent}{name}: {_EXAMPLES[key]}  # {field.description}"
        elif section is CorpusSettings:
            yield f"{indent}# {name}: {_default(field)}  # {field.description}"
        else:
            optional = "# " if field.get_default(call_default_factory=True) is None else ""
            yield f"{indent}{optional}{name}: {_default(field)}  # {field.description}"


def _commented(section: type[BaseModel], depth: int) -> Iterator[str]:
    """Yield the lines of a section that is left out by default."""
    for name, field in section.model_fields.items():
        yield f"{'  ' * (depth - 1)}#   {name}: {_default(field)}  # {field.description}"


def _default(field: FieldInfo) -> str:
    """Return a field's default as YAML."""
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, float) and 0 < value < 1e-4:
        return f"{value:.1e}"  # YAML 1.1 reads 1e-09 as text, 1.0e-09 as a number
    return json.dumps(value, ensure_ascii=False)


def reference_page(schema: type[BaseModel] = Recipe, *, without: tuple[str, ...] = ()) -> str:
    """Return docs/recipes.md's table of every key: name, default, explanation; `without` are sections left out."""
    keys = [row for row in keys_of(schema, "") if row[0].split(".")[0] not in without]
    rows = [f"| `{key}` | {default} | {description} |" for key, default, description in keys]
    return "\n".join(["| key | default | what it does |", "|---|---|---|", *rows]) + "\n"


def keys_of(section: type[BaseModel], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every key with its default and description, depth first."""
    for name, field in section.model_fields.items():
        key = f"{path}.{name}" if path else name
        inner = None if key in REPEATED else section_of(field.annotation)
        if inner is not None:
            yield from keys_of(inner, key)
        else:
            default = "required" if field.is_required() else f"`{_default(field)}`"
            yield key, default, (field.description or "").replace("|", "\\|")
