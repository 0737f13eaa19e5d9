r"""The parts of a text that translation must not change.

| kind | examples |
|---|---|
| in braces | `{0}`, `{name}`, `{size:N2}`, `{}`, `{{ user }}`, `${path}`, `$(Build.Id)`, `{% if %}` |
| of printf | `%s`, `%5.1f`, `%1$s`, `%(name)s`, `%1`, `%PATH%` |
| markup | `<b>`, `</a>`, `<br/>`, `<0>`, `<x id="1"/>` |
| addresses | `https://example.org/a`, `www.example.org`, `me@example.org` |
| of Weblate | `[X0X]` |

These are what training data and checks ask for: `placeholders`. A translator keeps more (`protected`):

| kind | examples |
|---|---|
| paths | `/etc/hosts`, `~/notes.txt`, `C:\Users`, `docs/index.md` |
| code | `` `git init` ``, ` ``True`` `, between backticks |
| numbers that are names | `MSB3352`, `2.20.0`, `192.168.0.1`, `0x1F`, `550e8400-e29b-41d4-a716-446655440000`, `33418` |
| pictures | emoji, arrows, symbols of icon fonts (private-use characters), the file separator |
| in a plural form | `#` by itself |

An accelerator key (`&File`, `&&File`) is not a placeholder: it moves to another letter in another language. Neither is
a percentage (`50 %`, `100%`). Numbers of up to four digits are the model's to write: `3` may become a word, and
`1,000.5` has another spelling in other languages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_ADDRESS = r"[^\s<>\"'`”“»«，。；：、！？（）]"
_ATTRIBUTE = r"""\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
# `<path>` names what the reader should insert, and is translated; `<b>` and `<path d="…">` are markup.
_ELEMENTS = (
    "a|abbr|b|big|blockquote|br|button|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|input|ins|kbd|label|li|"
    "mark|ol|p|pre|q|s|samp|small|span|strike|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|var|"
    "bpt|ept|g|mrk|ph|x|\\d+"
)
_FLAGS = r"[-+#0]*\d*(?:\.\d+)?"
_PATTERN = (
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
    r"|\[X\d+X\]"
)
_SIGNS = ("{", "<", "%", "$(", "@", "://", "www.", "[X")
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PICTURE = "[\U0001f000-\U0001faff\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff]"
_JOINING = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"  # follow a picture and belong to it
_OWN = (  # what a translator keeps beside the placeholders
    r"|``[^`\n]{1,200}``|(?<![A-Za-z0-9`])`(?!\s)[^`<\n]{0,199}[^`<\s]`(?!`)"
    r"|(?<![\w/.:<~])(?:~|\.{1,2})?(?:/[\w.+@*-]+){2,}/?|(?<![\w/.:<])(?:~|\.{1,2})/[\w.+@*-]+"
    r"|\b[A-Za-z]:\\[^\s\"'<>|]*|(?<![\w/.])[\w.+-]+(?:/[\w.+-]+)+\.[A-Za-z]\w{0,4}\b"
    r"|\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b|\b0x[0-9A-Fa-f]+\b"
    rf"|(?<![\w.])(?:{_BYTE}\.){{3}}{_BYTE}(?::\d+)?(?![\w.]*\d)"
    # 15.11.2026 is a date, and 1.000.000 a number
    r"|(?<![\w.])(?!\d{1,2}\.\d{1,2}\.\d{4}\b|\d{1,3}(?:\.\d{3})+\b)v?\d+(?:\.\d+){2,}\b"
    r"|(?<![\w-])[A-Z]{2,}[-_]?\d{2,}\b|(?<![\w.,])\d{5,}(?![\w]|[.,]\d)"
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    rf"|{_PICTURE}{_JOINING}*(?:\u200d{_PICTURE}{_JOINING}*)*|[\ue000-\uf8ff\x1c]|(?<!\S)#(?!\S)"
)
_BY_PLACE = rf"%{_FLAGS}(?:hh|h|ll|l|q|j|z|t)?[a-zA-Z@]"  # without a name and a number
_MAYBE_PROTECTED = re.compile(
    rf"[{{<%@/\\#`\ue000-\uf8ff\x1c]|{_PICTURE}|\$\(|www\.|\[X|[A-Z][-_]?\d|0x|\d\.\d+\.|\d{{5}}|[0-9A-Fa-f]{{8}}-"
)
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
    return list(_found(_compiled(_PATTERN), text))


def protected(text: str) -> list[Placeholder]:
    """Return all parts of a text that a translator keeps: placeholders, paths, pictures, numbers that are names."""
    if _MAYBE_PROTECTED.search(text) is None:
        return []
    return list(_found(_compiled(_PATTERN + _OWN), text))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that is compiled when the first text needs it: most texts have nothing like it."""
    return re.compile(pattern)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[Placeholder]:
    """Yield the matches of a pattern, without escaped percent signs and what ends the sentence after an address."""
    for match in pattern.finditer(text):
        whole = match.group()
        if whole == "%%":
            continue
        if whole.startswith(("http", "www.")):
            whole = whole.rstrip(_TRAILING)
        elif "/" in whole or "\\" in whole:
            whole = whole if whole.endswith(">") else whole.rstrip(".,;:")
        yield Placeholder(match.start(), match.start() + len(whole), whole)


def keeps_its_turn(placeholder: str) -> bool:
    """Return whether a placeholder must stay in order among its like: a tag, or `%s`, whose place is its argument."""
    return "<" in placeholder or _compiled(_BY_PLACE).search(placeholder) is not None


def same_placeholders(source: str, target: str) -> bool:
    """Return whether two texts have the same placeholders, each equally often, in any order.

    Addresses and attributes of tags need not be equal, since they often refer to a page in the other language.
    """
    return _counts(source) == _counts(target)


def _counts(text: str) -> Counter[str]:
    """Return the number of occurrences of each placeholder; all addresses, and all tags of a name, count as one."""
    return Counter(comparable(placeholder.text) for placeholder in placeholders(text))


def comparable(placeholder: str) -> str:
    """Return the part of a placeholder that must be the same on both sides."""
    if placeholder.startswith(("http", "www.")):
        return "address"
    if placeholder.startswith("<"):
        return placeholder.strip("<>/ ").split()[0].lower()
    return "e-mail" if "@" in placeholder[1:] else "".join(placeholder.split())
