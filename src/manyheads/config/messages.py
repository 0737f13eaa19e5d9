"""One clear sentence for each mistake in a recipe: which key, on which line, what is wrong, what to do.

All mistakes of a recipe are listed at once, one per line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from manyheads.config.unions import has_kinds, members_by_kind, sections_of
from manyheads.errors import ManyheadsError, did_you_mean

LONGEST_SHOWN = 300  # characters of a value in a message
KeyPath = tuple[str, ...]
Section = TypeVar("Section", bound=BaseModel)


def build(
    schema: type[Section], values: Mapping[str, Any], *, origin: str, lines: Mapping[KeyPath, int] | None = None
) -> Section:
    """Validate values against a schema; one `ManyheadsError` lists all mistakes."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise explain(error, schema, origin=origin, lines=lines or {}) from None


def explain(
    error: ValidationError, schema: type[BaseModel], *, origin: str, lines: Mapping[KeyPath, int]
) -> ManyheadsError:
    """Turn pydantic's errors into one error with a sentence for each of them."""
    sentences = [_sentence(details, schema, lines) for details in error.errors()]
    if len(sentences) == 1:
        return ManyheadsError(sentences[0], where=origin)
    listed = "".join(f"\n  - {sentence}" for sentence in sentences)
    return ManyheadsError(f"{len(sentences)} things are wrong:{listed}", where=origin)


def _sentence(details: ErrorDetails, schema: type[BaseModel], lines: Mapping[KeyPath, int]) -> str:
    """Return one error as a sentence: the line if it is known, the key, what is wrong and what to do."""
    place = _locate(details["loc"], schema)
    path, message = place.path, details["msg"].removeprefix("Value error, ")
    if details["type"] == "union_tag_invalid":
        path = (*path, "kind")
        kind = details["ctx"]["tag"]
        return f"{_line(lines, path)}'{'.'.join(path)}' = {kind!r}: unknown kind. {did_you_mean(kind, place.kinds)}"
    key = ".".join(path)
    if details["type"] == "extra_forbidden":
        return f"{_line(lines, path)}unknown key '{key}'. {did_you_mean(path[-1], place.known)}".rstrip()
    if details["type"] == "missing":
        return f"{_line(lines, path)}the key '{key}' is missing."
    subject = (
        f"'{key}' = {_shown(details['input'])}: "
        if path and not isinstance(details["input"], dict)
        else f"'{key}': "
        if key
        else ""
    )
    return f"{_line(lines, path)}{subject}{message[:1].lower()}{message[1:]}."


def _shown(value: object) -> str:
    """Return the beginning of a value as Python writes it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python does not write numbers of more than 4,300 digits
        return "…"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> str:
    """Return the line of a key, if it is known."""
    return f"line {lines[path]}: " if path in lines else ""


class _Place(NamedTuple):
    """A key by its path, the keys that its section may have, and the kinds that its value may have."""

    path: KeyPath
    known: list[str]
    kinds: list[str]


def _locate(location: tuple[int | str, ...], schema: type[BaseModel]) -> _Place:
    """Follow pydantic's location of an error through the schema.

    It names more than keys: the kind of a section where there are several, and in brackets the form of a value (one
    corpus, or several).
    """
    path: list[str] = []
    sections: list[type[BaseModel]] = [schema]
    known: list[str] = []
    kinds: dict[str, type[BaseModel]] = {}
    for part in map(str, location):
        if part.startswith("("):
            continue
        if kinds:
            sections, kinds = [kinds[part]] if part in kinds else [], {}
            continue
        path.append(part)
        if part.isdigit():  # an entry of a list
            continue
        known = list(dict.fromkeys(key for section in sections for key in section.model_fields))
        field = next((one.model_fields[part] for one in sections if part in one.model_fields), None)
        sections = sections_of(field.annotation) if field else []
        kinds = members_by_kind(field.annotation) if field and has_kinds(field.annotation, field.metadata) else {}
    return _Place(tuple(path), known, list(kinds))


def key_lines(root: yaml.Node | None, *, origin: str = "recipe") -> dict[KeyPath, int]:
    """Return the line number (from 1) of each key of a YAML document; a key given twice is an error."""
    lines: dict[KeyPath, int] = {}

    def visit(node: yaml.Node, path: KeyPath) -> None:
        """Record the lines of a mapping's keys, of a list's entries, and of those inside them."""
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

    if root is not None:
        visit(root, ())
    return lines
