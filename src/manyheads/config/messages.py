"""One clear sentence for each mistake in a recipe: which key, on which line, what is wrong, what to do.

All mistakes of a recipe are told at once, one per line.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from manyheads.errors import ManyheadsError, did_you_mean

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, where PyYAML has it, is several times faster
KeyPath = tuple[str, ...]
Section = TypeVar("Section", bound=BaseModel)


def build(
    schema: type[Section], values: Mapping[str, Any], *, origin: str, lines: Mapping[KeyPath, int] | None = None
) -> Section:
    """Validate values against a schema; whatever is wrong with them is one `ManyheadsError`."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise explain(error, schema, origin=origin, lines=lines or {}) from None


def explain(
    error: ValidationError, schema: type[BaseModel], *, origin: str, lines: Mapping[KeyPath, int]
) -> ManyheadsError:
    """Turn pydantic's findings into one error with a sentence for each of them."""
    sentences = [_sentence(found, schema, lines) for found in error.errors()]
    if len(sentences) == 1:
        return ManyheadsError(sentences[0], where=origin)
    listed = "".join(f"\n  - {sentence}" for sentence in sentences)
    return ManyheadsError(f"{len(sentences)} things are wrong:{listed}", where=origin)


def _sentence(found: ErrorDetails, schema: type[BaseModel], lines: Mapping[KeyPath, int]) -> str:
    """Say one finding: the line if it is known, the key, what is wrong and the cure."""
    # What stands in brackets says which form a value has (one corpus, or several) and is no key.
    path = tuple(str(part) for part in found["loc"] if not str(part).startswith("("))
    key = ".".join(path)
    line = lines.get(path)
    place = f"line {line}: " if line else ""
    if found["type"] == "extra_forbidden":
        known = _known_keys(schema, path[:-1])
        return f"{place}unknown key '{key}'. {did_you_mean(path[-1], known)}".rstrip()
    if found["type"] == "missing":
        return f"{place}the key '{key}' is missing."
    message = found["msg"].removeprefix("Value error, ")
    subject = (
        f"'{key}' = {found['input']!r}: "
        if path and not isinstance(found["input"], dict)
        else f"'{key}': "
        if key
        else ""
    )
    return f"{place}{subject}{message[:1].lower()}{message[1:]}."


def _known_keys(schema: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the keys that the section at `path` may have."""
    section: type[BaseModel] | None = schema
    for part in (part for part in path if not part.isdigit()):  # a place in a list
        field = section.model_fields.get(part) if section else None
        section = section_of(field.annotation) if field else None
    return list(section.model_fields) if section else []


def section_of(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401
    """Return the section class inside an annotation such as `CorpusSettings | None`."""
    if typing.get_origin(annotation) is Annotated:
        return section_of(typing.get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next(filter(None, map(section_of, typing.get_args(annotation))), None)
    return None


def key_lines(text: str, *, origin: str = "recipe") -> dict[KeyPath, int]:
    """Return the line (from 1) on which each key of a YAML document stands; a key given twice is an error."""
    lines: dict[KeyPath, int] = {}

    def visit(node: yaml.Node, path: KeyPath) -> None:
        """Note the keys of a mapping, the places of a list, and those inside them."""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = (*path, str(key.value))
                if inner in lines:
                    raise ManyheadsError(
                        f"line {key.start_mark.line + 1}: the key '{'.'.join(inner)}' is given twice, "
                        f"first on line {lines[inner]}.",
                        where=origin,
                    )
                lines[inner] = key.start_mark.line + 1
                visit(value, inner)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                inner = (*path, str(place))
                lines[inner] = value.start_mark.line + 1
                visit(value, inner)

    root = yaml.compose(text, Loader=LOADER)
    if root is not None:
        visit(root, ())
    return lines
