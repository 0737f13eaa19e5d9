"""The annotated recipe of `manyheads recipe new`, and the reference page, generated from the schema's descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from manyheads.config.corpora import CorpusSettings, TargetTokenizerSettings
from manyheads.config.models.transformer import VectorSettings
from manyheads.config.reading import DEFAULT_TASK
from manyheads.config.recipe import in_order
from manyheads.config.tasks import TASKS, recipe_class
from manyheads.config.tasks.memory_questions import StoriesSettings
from manyheads.config.tasks.reading import ExamplesSettings
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.unions import has_kinds, members_by_kind, sections_of
from manyheads.errors import ManyheadsError, did_you_mean

_EXAMPLES: dict[str, str] = {
    "data.train.source": "train.en",
    "data.train.target": "train.de",
    "data.valid.source": "valid.en",
    "data.valid.target": "valid.de",
    "data.train.files": "[train.txt]",
    "data.valid.files": "[valid.txt]",
    "data.train.file": "train.tsv",
    "data.valid.file": "valid.tsv",
}
_OF_DATA = (CorpusSettings, ExamplesSettings, StoriesSettings)  # sections in which only the keys above are needed
_LEFT_OUT = (TargetTokenizerSettings, VectorSettings)  # sections that are optional

REPEATED = ("model.decoder_attention",)  # sections with the keys of another, `model.attention`


def recipe_template(task: str = DEFAULT_TASK, model: str | None = None) -> str:
    """Return a recipe with every key, its default and its explanation; optional keys are commented out.

    If a section has several kinds, the default kind is shown; for the model, the requested one.
    """
    schema = _named(task, {name: recipe_class(name) for name in TASKS}, where="--task")
    models = members_by_kind(schema.model_fields["model"].annotation)
    chosen = {} if model is None else {"model": _named(model, models, where="--model")}
    head = ["# A Manyheads recipe. Lines behind '#' show defaults; only data.train is required.", ""]
    return "\n".join([*head, *_lines(schema, "", 0, chosen)]) + "\n"


def _named(name: str, known: Mapping[str, type[BaseModel]], *, where: str) -> type[BaseModel]:
    """Return the class of a name; an unknown name is an error."""
    if name not in known:
        raise ManyheadsError(f"'{name}' is unknown.", where=where, cure=did_you_mean(name, known))
    return known[name]


def _lines(
    section: type[BaseModel], path: str, depth: int, chosen: Mapping[str, type[BaseModel]], kinds: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the lines of one section, which is one of several `kinds`."""
    indent = "  " * depth
    for name, field in in_order(section.model_fields).items():
        key = f"{path}.{name}" if path else name
        inner = chosen.get(key) or _shown(key, field)
        description = _with_kinds(field, kinds) if name == "kind" else field.description
        if inner in _LEFT_OUT:
            yield f"{indent}# {name}:  # {description}"
            yield from _commented(inner, depth + 1)
        elif inner is not None:
            yield f"{indent}{name}:  # {description}"
            yield from _lines(inner, key, depth + 1, chosen, _kinds(field))
        elif key in _EXAMPLES or field.examples:
            example = _EXAMPLES.get(key) or (field.examples or [""])[0]
            yield f"{indent}{name}: {example}  # {description}"
        else:
            optional = section in _OF_DATA or field.get_default(call_default_factory=True) is None
            yield f"{indent}{'# ' if optional else ''}{name}: {_default(field)}  # {description}"


def _shown(key: str, field: FieldInfo) -> type[BaseModel] | None:
    """Return the section that a key holds by default, or the first one that it may hold."""
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if isinstance(default, BaseModel):
        return type(default)
    return None if key in REPEATED else next(iter(sections_of(field.annotation)), None)


def _kinds(field: FieldInfo) -> list[str]:
    """Return the kinds of a section, if it has several."""
    return list(members_by_kind(field.annotation)) if has_kinds(field.annotation, field.metadata) else []


def _with_kinds(field: FieldInfo, kinds: Sequence[str]) -> str:
    """Return the description of a key `kind` with the other kinds."""
    others = [kind for kind in kinds if kind != field.default]
    return f"{field.description} Others: {', '.join(others)}." if others else str(field.description)


def _commented(section: type[BaseModel], depth: int) -> Iterator[str]:
    """Yield the lines of a section that is left out by default."""
    for name, field in section.model_fields.items():
        yield f"{'  ' * (depth - 1)}#   {name}: {_default(field)}  # {field.description}"


def _default(field: FieldInfo) -> str:
    """Return a field's default as YAML."""
    value: Any = None if field.is_required() else field.get_default(call_default_factory=True)
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, float) and 0 < value < 1e-4:
        return f"{value:.1e}"  # YAML 1.1 reads 1e-09 as text, 1.0e-09 as a number
    return json.dumps(value, ensure_ascii=False)


def reference_page(schema: type[BaseModel] = TranslationRecipe, *, without: tuple[str, ...] = ()) -> str:
    """Return the table of every key: name, default, explanation; `without` are sections left out."""
    keys = [row for row in keys_of(schema, "") if row[0].split(".")[0] not in without]
    rows = [f"| `{key}` | {default} | {description} |" for key, default, description in keys]
    return "\n".join(["| key | default | what it does |", "|---|---|---|", *rows]) + "\n"


def keys_of(section: type[BaseModel], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every key with its default and description, depth first; of several kinds of a section, the keys of all."""
    for name, field in in_order(section.model_fields).items():
        key = f"{path}.{name}" if path else name
        sections = [] if key in REPEATED else sections_of(field.annotation)
        if has_kinds(field.annotation, field.metadata) and sections:
            yield from _keys_of_kinds(field, key)
        elif sections:
            yield from keys_of(sections[0], key)
        else:
            default = "required" if field.is_required() else f"`{_default(field)}`"
            yield key, default, (field.description or "").replace("|", "\\|")


def _keys_of_kinds(field: FieldInfo, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of a section of which there are several kinds, each key once, with the kinds that have it."""
    members = members_by_kind(field.annotation)
    default = _shown(path, field)
    assert default is not None
    described = (f"{kind}: {_clause(one.model_fields['kind'].description)}" for kind, one in members.items())
    yield f"{path}.kind", f"`{json.dumps(default.model_fields['kind'].default)}`", f"{'; '.join(described)}."
    rows: dict[str, dict[str, tuple[str, str]]] = {}  # by key, then by kind
    for kind, member in members.items():
        for key, value, description in keys_of(member, path):
            rows.setdefault(key, {})[kind] = value, description
    for key, by_kind in rows.items():
        if key != f"{path}.kind":
            _, description = next(iter(by_kind.values()))
            is_own = key.count(".") == path.count(".") + 1  # and not of a section inside this one
            only = f" ({', '.join(by_kind)})" if is_own and len(by_kind) < len(members) else ""
            yield key, _defaults({kind: value for kind, (value, _) in by_kind.items()}), description + only


def _defaults(values: Mapping[str, str]) -> str:
    """Return the default of a key, or those of each kind where they differ."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{value} ({kind})" for kind, value in values.items())


def _clause(description: str | None) -> str:
    """Return a description as a clause that a list can hold."""
    text = (description or "").rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
