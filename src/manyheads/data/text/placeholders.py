"""The parts of a text that translation must not change.

| kind | examples |
|---|---|
| in braces | `{0}`, `{name}`, `{size:N2}`, `{}`, `{{ user }}`, `${path}`, `$(Build.Id)`, `{% if %}` |
| of printf | `%s`, `%5.1f`, `%1$s`, `%(name)s`, `%1`, `%PATH%` |
| markup | `<b>`, `</a>`, `<br/>`, `<0>` |
| addresses | `https://example.org/a`, `www.example.org`, `me@example.org` |

An accelerator key (`&File`, `&&File`) is not a placeholder: it moves to another letter in another language. Neither is
a percentage (`50 %`, `100%`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_ADDRESS = r"[^\s<>\"'”“»«，。；、（）]"
_ATTRIBUTE = r"""\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
# `<path>` names what the reader should insert, and is translated; `<b>` and `<path d="…">` are markup.
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
    """A placeholder and its position in the whole text: `text == whole[start:end]`."""

    start: int
    end: int
    text: str


def placeholders(text: str) -> list[Placeholder]:
    """Return the placeholders of a text in order; they do not overlap."""
    if not any(sign in text for sign in _SIGNS):  # a fast check, since most texts have no placeholders
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
    """Return whether two texts have the same placeholders, each equally often, in any order.

    Addresses and attributes of tags need not be equal, since they often refer to a page in the other language.
    """
    return _counts(source) == _counts(target)


def _counts(text: str) -> Counter[str]:
    """Return the number of occurrences of each placeholder; all addresses, and all tags of a name, count as one."""
    return Counter(_comparable(placeholder.text) for placeholder in placeholders(text))


def _comparable(placeholder: str) -> str:
    """Return the part of a placeholder that must be the same on both sides."""
    if placeholder.startswith(("http", "www.")):
        return "address"
    if placeholder.startswith("<"):
        return placeholder.strip("<>/ ").split()[0].lower()
    return "e-mail" if "@" in placeholder[1:] else "".join(placeholder.split())
