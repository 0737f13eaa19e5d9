"""HTML cut into tags, comments and text, as browsers read it; joined, the parts are the HTML.

It reads any text, in linear time and alike with every version of Python. `html.parser` fails for some texts, takes
quadratic time for others, and both depend on the version. The rules are those of the HTML standard (13.2.5), with one
difference: an unfinished tag with all that follows is kept where a browser drops it, and is text if it has no `>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

PartKind = Literal["text", "start", "end", "comment", "declaration"]

# An unclosed quote is a part of the name, so that its tag ends with the next `>`. Quantifiers are possessive, so that
# each character of a tag is read once.
_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)*+"""
_TAGS: dict[PartKind, re.Pattern[str]] = {
    "start": re.compile(rf"<([a-zA-Z][^\s/>]*+){_ATTRIBUTES}>"),
    "end": re.compile(r"</([a-zA-Z][^\s/>]*+)[^>]*+>"),
}
_COMMENT = re.compile(r"<!--(?:-?>|.*?(?:-->|\Z))", re.DOTALL)  # an unfinished one ends with the HTML
_ATTRIBUTE = re.compile(r"""([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]*+))?+""")
_MARKUP = re.compile(r"<(?=[a-zA-Z!?/])")
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
# Python does not convert strings of thousands of digits into numbers; no character needs a hundred.
_ENDLESS_NUMBER = re.compile(r"&#(?:[0-9]{100,}+|[xX][0-9a-fA-F]{100,}+);?")


@dataclass(frozen=True)
class Part:
    """A tag, a comment, a declaration or a text, unchanged; `name` is that of a tag, in lower case."""

    kind: PartKind
    raw: str
    name: str = ""

    @property
    def is_self_closing(self) -> bool:
        """Whether this is a tag that ends with `/>`, as in XML."""
        return self.raw.endswith("/>")

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of a start tag; of a repeated one, the first counts."""
        found = _ATTRIBUTE.findall(self.raw, 1 + len(self.name), len(self.raw) - 1)
        return {name.lower(): unescaped(value.strip("\"'")) for name, value in reversed(found)}


def html_parts(markup: str) -> Iterator[Part]:
    """Yield the parts of some HTML."""
    position = 0
    while position < len(markup):
        found = _MARKUP.search(markup, position)
        begin = found.start() if found else len(markup)
        if begin > position:
            yield Part("text", markup[position:begin])
        if found is None:
            return
        part = _markup_at(markup, begin)
        yield part
        position = begin + len(part.raw)
        if part.kind == "start" and part.name in _RAW_ENDS and not part.is_self_closing:
            end = _RAW_ENDS[part.name].search(markup, position)
            stop = end.start() if end else len(markup)
            if stop > position:
                yield Part("text", markup[position:stop])
            position = stop


def _markup_at(markup: str, begin: int) -> Part:
    """Return the part that begins with the `<` at this offset."""
    if found := _COMMENT.match(markup, begin):
        return Part("comment", found[0])
    for kind, pattern in _TAGS.items():
        if tag := pattern.match(markup, begin):
            return Part(kind, tag[0], tag[1].lower())
    end = markup.find(">", begin)
    is_start = markup[begin + 1].isalpha()
    if is_start or end < 0:  # an unfinished tag has no `>`, or only quoted ones
        return Part("text" if is_start and end < 0 else "comment", markup[begin:])
    raw = markup[begin : end + 1]
    return Part("declaration" if raw[:9].lower() == "<!doctype" else "comment", raw)


def unescaped(text: str) -> str:
    """Return a text with characters in place of references to them (`&amp;`, `&#38;`)."""
    return html.unescape(_ENDLESS_NUMBER.sub("\ufffd", text))
