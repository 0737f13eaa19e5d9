"""Text with inline elements in XML, as XLIFF and TMX have them, read and written.

| elements | read as |
|---|---|
| `g` `pc` `mrk` `hi` | a tag that opens and one that closes; their text is translated |
| `bpt` `bx` `sc` `sm`, `ept` `ex` `ec` `em` | a tag that opens, a tag that closes; what they hold is code |
| `x` `ph` `it` `ut` `cp` and all others, comments, protected `mrk` | a tag that stands alone |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from manyheads.documents.interface import Styled, Tag, TagKind
from manyheads.documents.xml_places import Element, XmlText

_AROUND_TEXT = frozenset({"g", "pc", "mrk", "hi"})
_KINDS: dict[str, TagKind] = {
    "bpt": "open",
    "bx": "open",
    "sc": "open",
    "sm": "open",
    "ept": "close",
    "ex": "close",
    "ec": "close",
    "em": "close",
}
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold

_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")


def styled(whole: str, element: Element) -> Styled:
    """Return the content of an element."""
    texts: list[str] = []
    tags: list[Tag] = []
    length = 0
    for part in _parts(whole, element):
        if isinstance(part, str):
            texts.append(part)
            length += len(part)
        else:
            tags.append(part._replace(offset=length))
    return Styled("".join(texts), tuple(tags))


def _parts(whole: str, element: Element) -> Iterator[str | Tag]:
    """Yield the texts and the tags in an element."""
    for child in element.children:
        if isinstance(child, XmlText):
            is_text = child.kind in ("text", "cdata")
            yield child.text if is_text else Tag(0, "atom", whole[child.start : child.end])
        elif child.local_name in _AROUND_TEXT and not child.is_empty_tag and not _is_protected(child):
            yield Tag(0, "open", whole[child.start : child.content_start])
            yield from _parts(whole, child)
            yield Tag(0, "close", whole[child.content_end : child.end])
        else:
            yield Tag(0, _KINDS.get(child.local_name, "atom"), whole[child.start : child.end])


def _is_protected(element: Element) -> bool:
    """Return whether an element marks a text that is not translated."""
    return element.attributes.get("mtype") == "protected" or element.attributes.get("translate") == "no"


def as_xml(content: Styled) -> str:
    """Return text with tags as XML."""
    parts: list[str] = []
    done = 0
    for tag in content.tags:
        parts += _escaped(content.text[done : tag.offset]), tag.raw
        done = tag.offset
    return "".join([*parts, _escaped(content.text[done:])])


def _escaped(text: str) -> str:
    """Return a text as XML."""
    return escape(_IMPOSSIBLE.sub("\ufffd", text), {"\r": "&#13;"})


def with_attribute(tag: str, name: str, value: str) -> str:
    """Return a start tag with an attribute, in place of the one of this name where it has one."""
    written = f"{name}={quoteattr(value)}"
    there = re.compile(rf"""(?<=\s){re.escape(name)}\s*=\s*(?:"[^"]*"|'[^']*')""")
    if there.search(tag):
        return there.sub(lambda _: written, tag, count=1)
    end = -2 if tag.endswith("/>") else -1
    return f"{tag[:end].rstrip()} {written}{tag[end:]}"


def indentation(whole: str, element: Element) -> str:
    """Return the line break and the white space before an element; nothing if it does not begin a line."""
    begin = element.start
    while begin and whole[begin - 1] in " \t":
        begin -= 1
    line_end = _LINE_END.search(whole, max(0, begin - 2), begin)
    return line_end[0] + whole[begin : element.start] if line_end else ""
