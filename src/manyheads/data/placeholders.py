"""The parts of a text that must survive translation as they are.

| kind | examples |
|---|---|
| in braces | `{0}`, `{name}`, `{size:N2}`, `{}`, `{{ user }}`, `${path}`, `$(Build.Id)`, `{% if %}` |
| of printf | `%s`, `%5.1f`, `%1$s`, `%(name)s`, `%1`, `%PATH%` |
| markup | `<b>`, `</a>`, `<br/>`, `<0>` |
| addresses | `https://example.org/a`, `www.example.org`, `me@example.org` |

An accelerator (`&File`, `&&File`) is none: it moves to another letter in another language. Neither is a percentage
(`50 %`, `100%`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_ATTRIBUTE = r"""\s+[\w:.-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?"""
_PLACEHOLDER = re.compile(
    r"https?://[^\s<>\"'”“»«，。；、（）]+"
    r"|\bwww\.[\w-]+\.[^\s<>\"'”“»«，。；、（）]+"
    r"|[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    rf"|</?(?:[A-Za-z][\w:.-]*|\d+)(?:{_ATTRIBUTE})*\s*/?>"
    r"|\{\{[^{}]*\}\}|\{%[^{}]*%\}"
    r"|\$?\{[\w.$\[\]-]*(?:[:!,][^{}\s]*)?\}"
    r"|\$\([\w.-]+\)"
    r"|%%(?!%)"  # an escaped percent sign, which must not start a placeholder
    r"|%\(\w+\)[-+#0 ]*[\d.]*[a-zA-Z]"
    r"|(?<![\d%])%\d+\$[-+#0]*[\d.]*[a-zA-Z]"
    r"|%[A-Z][A-Z_]+%"
    r"|(?<![\d%])%[-+#0]*\d*(?:\.\d+)?(?:hh|h|ll|l|q|j|z|t)?[diouxXeEfFgGcsrapn@](?![^\W\d_])"
    r"|(?<![\d%])%[1-9](?!\w)"
)
_TRAILING = ".,;:!?)]}'\""  # ends a sentence rather than an address


class Placeholder(NamedTuple):
    """A placeholder and where it stands: `text == whole[start:end]`."""

    start: int
    end: int
    text: str


def placeholders(text: str) -> list[Placeholder]:
    """Return the placeholders of a text in their order; none overlaps another."""
    if not any(sign in text for sign in "{<%@/$."):
        return []
    found = []
    for match in _PLACEHOLDER.finditer(text):
        whole = match.group()
        if whole == "%%":
            continue
        if whole.startswith(("http", "www.")):
            whole = whole.rstrip(_TRAILING)
        found.append(Placeholder(match.start(), match.start() + len(whole), whole))
    return found


def same_placeholders(source: str, target: str) -> bool:
    """Whether two texts have the same placeholders, each as often, in whatever order.

    Addresses and the attributes of tags are often those of a page in the other language, so they need not be equal.
    """
    return _compared(source) == _compared(target)


def _compared(text: str) -> Counter[str]:
    """Return how often a text has each placeholder, addresses and tags by their kind alone."""
    return Counter(_kind(one.text) for one in placeholders(text))


def _kind(placeholder: str) -> str:
    """Return what must be the same on both sides."""
    if placeholder.startswith(("http", "www.")):
        return "address"
    if placeholder.startswith("<"):
        return placeholder.strip("<>/ ").split()[0].lower()
    return "e-mail" if "@" in placeholder[1:] else "".join(placeholder.split())
