"""JSON with limits. Everything that cannot be read is a `ValueError`, so that a reader needs to expect nothing else.

Python's parser raises a `RecursionError` for brackets that are nested too deeply.
"""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 100  # levels of a configuration


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401
    """Return the value of a text in JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse_settings(text: str | bytes) -> Any:  # noqa: ANN401
    """Return the value of a configuration in JSON, in which nothing is nested more deeply than people nest."""
    value = parse_json(text)
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        level = [inner for outer in level for inner in _inside(outer)]
    return value


def _inside(value: object) -> list[object]:
    """Return the values inside an object or a list that are objects or lists themselves."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inner if isinstance(one, dict | list)]
