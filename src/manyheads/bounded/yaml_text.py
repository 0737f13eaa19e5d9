"""YAML with limits: its depth, its size with all aliases written out, and the length of its numbers.

A document is first read as events, which takes no recursion and little time. Only then is it composed: the composers of
PyYAML call themselves for each level, the one in C until the process is killed, and aliases of aliases stand for more
values than any memory holds. What cannot be read is a `yaml.YAMLError` in all cases, with its line if there is one.
"""

from __future__ import annotations

from typing import Any

import yaml

LARGEST = 1 << 20  # characters
DEEPEST = 50  # levels
MOST_VALUES = 50_000  # with aliases written out
LONGEST_NUMBER = 400  # characters; a sexagesimal number takes time that grows with the square of them
NUMBERS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp"))
MISTAKES = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
"""What the library raises for a value that does not fit its type, such as the date 2026-13-01."""

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, if available, is several times faster


class _Loader(_BASE):  # type: ignore[misc]
    """The safe loader, which raises nothing but `YAMLError` for a value that it cannot read."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        """Return the value of a node."""
        if node.tag in NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise _problem(f"a number has at most {LONGEST_NUMBER} characters, not {len(node.value):,}", node)
        try:
            return super().construct_object(node, deep)
        except MISTAKES:
            kind = node.tag.rpartition(":")[2]
            shown = f"'{str(node.value)[:40]}' is" if isinstance(node, yaml.ScalarNode) else "this is"
            raise _problem(f"{shown} not of the type {kind}", node) from None


def compose(text: str) -> yaml.Node | None:
    """Return the one document of a text as nodes; None for an empty text."""
    if len(text) > LARGEST:
        raise _problem(f"it has {len(text):,} characters, and at most {LARGEST:,} are read")
    _check_events(text)
    node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    return node


def construct(node: yaml.Node | None) -> Any:  # noqa: ANN401
    """Return the value of a document."""
    return None if node is None else _Loader("").construct_document(node)


def parse(text: str) -> Any:  # noqa: ANN401
    """Return the value of a text in YAML."""
    return construct(compose(text))


def _check_events(text: str) -> None:
    """Raise an error for a document that is too deep, or too large with its aliases written out."""
    values = 0
    sizes: dict[str, int] = {}  # the values below each anchor
    around: list[tuple[str | None, int]] = []  # the anchor of each collection around an event, and the values before it
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in around):
                raise _problem(f"the value '&{event.anchor}' contains itself", event)
            values += sizes.get(str(event.anchor), 0)
        elif isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = around.pop()
            if anchor is not None:
                sizes[anchor] = values - before
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(around) > DEEPEST:
            raise _problem(f"it is nested more than {DEEPEST} levels deep", event)
        if values > MOST_VALUES:
            raise _problem(f"with its aliases written out, it has more than {MOST_VALUES:,} values", event)


def _problem(problem: str, place: Any = None) -> yaml.YAMLError:  # noqa: ANN401
    """Return the error for a node or an event that is refused."""
    mark = None if place is None else place.start_mark
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
