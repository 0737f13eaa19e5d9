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

_ADDRESS = r"[^\s<>\"'”“»«，。；、（）]"
_ATTRIBUTE = r"""\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
# `<path>` is a word for what the reader should write there, and is translated; `<b>` and `<path d="…">` are markup.
_ELEMENTS = (
    "a|abbr|b|big|blockquote|br|button|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|input|ins|kbd|label|li|"
    "mark|ol|p|pre|q|s|samp|small|span|strike|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|var|"
    "bpt|ept|g|mrk|ph|x|\\d+"
)
_FLAGS = r"[-+#0]*\d*(?:\.\d+)?"
_PLACEHOLDER = re.compile(
    rf"https?://[\w{{$%]{_ADDRESS}*|\bwww\.[\w-]+\.{_ADDRESS}+"
    r"|(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    rf"|</?(?:{_ELEMENTS})\s*/?>|<[A-Za-z][\w:.-]*(?:{_ATTRIBUTE})+\s*/?>"
    r"|\{\{[^{}]*\}\}|\{%[^{}]*%\}"
    r"|\$?\{[A-Za-z0-9_.$\[\]-]*(?:[:!,][^{}\s]*)?\}"
    r"|\$\([\w.-]+\)"
    r"|%%"  # an escaped percent sign, which starts no placeholder
    rf"|%\(\w+\){_FLAGS}[a-zA-Z]"
    rf"|(?<!\d)%\d+\${_FLAGS}[a-zA-Z]"
    r"|%[A-Z][A-Z_]+%"
    rf"|(?<!\d)%{_FLAGS}(?:hh|h|ll|l|q|j|z|t)?[diouxXeEfFgGcsrapn@](?![A-Za-zÀ-ɏ])"
    r"|(?<!\d)%[1-9](?![A-Za-z0-9_])"
)
_SIGNS = ("{", "<", "%", "$(", "@", "://", "www.")
_TRAILING = ".,;:!?)]}'\""  # ends a sentence rather than an address


class Placeholder(NamedTuple):
    """A placeholder and where it stands: `text == whole[start:end]`."""

    start: int
    end: int
    text: str


def placeholders(text: str) -> list[Placeholder]:
    """Return the placeholders of a text in their order; none overlaps another."""
    if not any(sign in text for sign in _SIGNS):  # of which most texts have none
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
