"""Sections that have several kinds, each with its own keys.

    AttentionSettings = Annotated[DotProductSettings | WindowSettings | …, Kinds("dot_product")]

The key `kind` selects the class, and the class has only the keys that this kind understands. Earlier versions had one
class with the keys of all kinds, and wrote all of them into run folders. So a key of another kind is dropped where it
has that kind's default. With another value it would be without effect: that is an error, or a notice where earlier
versions accepted it.
"""

from __future__ import annotations

import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from manyheads.errors import Notice


@dataclass(frozen=True)
class Kinds:
    """Marks a union of sections as selected by the key `kind`; without the key, `default` is selected."""

    default: str
    noun: str = ""  # what they are kinds of, for messages
    ignored: tuple[str, ...] = ()  # keys of other kinds that earlier versions accepted without effect

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Return the schema that validates a value as the section of its kind."""
        members = members_by_kind(source)
        choices = {kind: handler.generate_schema(member) for kind, member in members.items()}
        union = core_schema.tagged_union_schema(choices, discriminator=self._kind)
        prepare = self._prepare(members)
        return core_schema.no_info_before_validator_function(prepare, union)

    def _kind(self, value: object) -> str | None:
        """Return the kind of a section, given as a mapping or as an object."""
        if isinstance(value, Mapping):
            return str(value.get("kind", self.default))
        return getattr(value, "kind", None)

    def _prepare(self, members: Mapping[str, type[BaseModel]]) -> Callable[[object], object]:
        """Return a function that fills in the kind of a mapping and drops the keys of other kinds."""

        def prepare(value: object) -> object:
            """Check the keys of one section."""
            if not isinstance(value, Mapping):
                return value
            kind = str(value.get("kind", self.default))
            if kind not in members:
                return value
            return {"kind": kind, **self._without_foreign_keys(value, kind, members)}

        return prepare

    def _without_foreign_keys(
        self, values: Mapping[str, Any], kind: str, members: Mapping[str, type[BaseModel]]
    ) -> dict[str, Any]:
        """Return values without the keys of other kinds; keys that no kind has remain, for validation to report."""
        kept = {}
        for key, value in values.items():
            owners = [name for name, member in members.items() if key in member.model_fields]
            if kind in owners or not owners:
                kept[key] = value
            elif not any(_is_default(value, members[owner], key) for owner in owners):
                sentence = f"`{key}` is for {' and '.join(owners)} {self.noun}, not for {kind}"
                if key not in self.ignored:
                    raise ValueError(f"{sentence}: leave it out, or set kind: {owners[0]}")
                warnings.warn(f"{sentence}: it has no effect.", Notice, stacklevel=2)
        return kept


def _is_default(value: object, member: type[BaseModel], key: str) -> bool:
    """Whether a value is the default of a key, as an object or as it is written to a file."""
    default = member.model_fields[key].get_default(call_default_factory=True)
    if isinstance(default, BaseModel):
        return value in (default, default.model_dump(mode="json"), default.model_dump(mode="json", exclude_none=True))
    return bool(value == default)


def members_by_kind(annotation: object) -> dict[str, type[BaseModel]]:
    """Return the sections of a union by their kinds."""
    return {member.model_fields["kind"].default: member for member in sections_of(annotation)}


def sections_of(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401
    """Return the section classes inside an annotation such as `CorpusSettings | None`, in their order."""
    if typing.get_origin(annotation) is Annotated:
        return sections_of(typing.get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [section for one in typing.get_args(annotation) for section in sections_of(one)]
    return []


def has_kinds(annotation: Any, metadata: typing.Iterable[object] = ()) -> bool:  # noqa: ANN401
    """Whether an annotation holds a union of sections that is selected by the key `kind`."""
    if any(isinstance(one, Kinds) for one in metadata):
        return True
    if typing.get_origin(annotation) is Annotated:
        inner, *marks = typing.get_args(annotation)
        return has_kinds(inner, marks)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(has_kinds(one) for one in typing.get_args(annotation))
    return False
