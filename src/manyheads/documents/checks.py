"""What a translation lacks of its source, or has too much, before someone's program fails on it (as `msgfmt -c` does).

problems("Copied %d of %s", "%s kopiert")  # ["%d is missing"]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from manyheads.documents.messages import message_arguments
from manyheads.documents.placeholders import comparable, keeps_its_turn, placeholders

_TAG = re.compile(r"<(/?)([A-Za-z0-9][\w:.-]*)[^<>]*?(/?)>")
_VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})


def problems(source: str, translation: str) -> list[str]:
    """Return what is wrong with the placeholders of a translation, each in a few words; nothing if all are there."""
    wanted, found = _counts(source), _counts(translation)
    missing = [f"{text} is missing" for text in (wanted - found)]
    excess = [f"{text} is too much" for text in (found - wanted)]
    return [*missing, *excess, *([] if missing or excess else _disorder(source, translation))]


def _disorder(source: str, translation: str) -> Iterator[str]:
    """Yield what is wrong with the order of placeholders that are all there."""
    wanted, found = _in_order(source), _in_order(translation)
    for one, other in zip(wanted, found, strict=True):
        if one != other:
            yield f"{other} stands where {one} belongs"
            break
    if not _unbalanced(source):
        yield from (f"{tag} has no counterpart" for tag in _unbalanced(translation))


def _counts(text: str) -> Counter[str]:
    """Return how often each placeholder and each argument of a message occurs."""
    if arguments := message_arguments(text):
        return Counter(arguments)  # words in braces are texts there
    return Counter(comparable(one.text) for one in placeholders(text))


def _in_order(text: str) -> list[str]:
    """Return the formats that take their argument by their position."""
    return [one.text for one in placeholders(text) if keeps_its_turn(one.text) and one.text[0] == "%"]


def _unbalanced(text: str) -> list[str]:
    """Return the tags that are not closed, or close nothing, in the order of the text."""
    opened: list[tuple[str, str]] = []
    wrong = []
    for one in placeholders(text):
        match = _TAG.fullmatch(one.text)
        if match is None or match[3] or match[2].lower() in _VOID:
            continue
        name = match[2].lower()
        if not match[1]:
            opened.append((name, one.text))
        elif opened and opened[-1][0] == name:
            opened.pop()
        else:
            wrong.append(one.text)
    return [*wrong, *(raw for _, raw in opened)]
