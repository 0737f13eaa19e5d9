r"""The values of Android's string resources: `Don\'t <b>panic</b>`, as a text with inline tags, and back.

Android collapses spaces and line breaks outside of double quotes, and decodes `\n`, `\t`, `\'`, `\"`, `\\`, `\@`, `\?`
and `\u0041`. Elements are tags, and so are those that are written with `&lt;` for `Html.fromHtml`. `<xliff:g>` holds
what is not translated and is one tag with its content; so are comments, and CDATA sections beside other text. In a
value that is one CDATA section, HTML is read and written as such.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple
from xml.sax.saxutils import escape

from manyheads.documents.interface import Styled, Tag
from manyheads.documents.xml_places import Element, XmlText

_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*+"""
_ATOM_OF_XML = (
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    rf"|<(?P<prefix>[\w.-]+):g(?=[\s/>]){_ATTRIBUTES}(?:(?<=/)>|>.*?</(?P=prefix):g\s*>)"
)
_ATOM_OF_HTML = r"<!--[^<>]*+-->"  # in CDATA, nothing needs to end, so nothing is looked for beyond the next tag


def _parts(atom: str) -> re.Pattern[str]:
    """Return the pattern of the parts of a value."""
    return re.compile(
        rf"(?P<atom>{atom})"
        rf"|(?P<tag></?[^\W\d]{_ATTRIBUTES}>|&lt;/?[a-zA-Z][^<>&]*+(?:&gt;|>))"
        r"|(?P<codes>(?:\\u[0-9a-fA-F]{4})+)"
        r"|\\(?P<escaped>.)"
        r"|(?P<entity>&\#?\w+;)"
        r'|(?P<quote>")'
        r"|(?P<space>[ \t\r\n]+)"
        r'|(?P<text>[^<&\\" \t\r\n]+|.)',
        re.DOTALL,
    )


_XML, _HTML = _parts(_ATOM_OF_XML), _parts(_ATOM_OF_HTML)
_REFERENCE = re.compile(r"[@?]\+?(?:[\w.*]+:)?[\w.]+/[\w.]+|\?[\w.]+:[\w.]+|@null|@empty")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": "", "\xa0": r"\u00A0"})


class Value(NamedTuple):
    """A value, its place `whole[start:end]` without the spaces around it, and how another is written there."""

    styled: Styled
    start: int
    end: int
    write: Callable[[Styled], str]


def read_value(whole: str, element: Element) -> Value | None:
    """Return the value of an element; None if it has nothing to translate: no text, or a reference."""
    start, end = element.content_start, element.content_end
    contents = [one for one in element.children if not (isinstance(one, XmlText) and not one.text.strip())]
    only = contents[0] if len(contents) == 1 else None
    is_cdata = isinstance(only, XmlText) and only.kind == "cdata"
    if isinstance(only, XmlText) and is_cdata:
        start, end = only.start + len("<![CDATA["), only.end - len("]]>")
    raw = whole[start:end]
    start += len(raw) - len(raw.lstrip(" \t\r\n"))
    raw = raw.strip(" \t\r\n")
    styled = _decoded(raw, _HTML if is_cdata else _XML)
    if not styled.text.strip() or _REFERENCE.fullmatch(raw):
        return None
    write = _write_html if is_cdata and ("&" in raw or styled.tags) else _write_cdata if is_cdata else _write
    return Value(styled, start, start + len(raw), write)


def _decoded(raw: str, parts: re.Pattern[str]) -> Styled:
    """Return a value as a text with its tags."""
    text, tags, is_quoted = "", [], False
    for part in parts.finditer(raw):
        if part["quote"]:
            is_quoted = not is_quoted
        elif part["atom"]:
            tags.append(Tag(len(text), "atom", part[0]))
        elif part["tag"]:
            tags.append(_tag(len(text), part[0]))
        elif part["space"]:
            text += part[0] if is_quoted else " "
        else:
            text += _character(part)
    return Styled(text, tuple(tags))


def _tag(offset: int, raw: str) -> Tag:
    """Return the tag of an element."""
    if raw.startswith(("</", "&lt;/")):
        return Tag(offset, "close", raw)
    is_alone = raw.endswith(("/>", "/&gt;")) or re.match(r"(?:<|&lt;)(?:br|img|hr)\b", raw, re.IGNORECASE)
    return Tag(offset, "atom" if is_alone else "open", raw)


def _character(part: re.Match[str]) -> str:
    """Return what an escape, an entity or a text stands for."""
    if part["codes"]:
        return bytes.fromhex(part[0].replace(r"\u", "")).decode("utf-16-be", "replace")
    if part["escaped"]:
        return {"n": "\n", "t": "\t"}.get(part["escaped"], part["escaped"])
    return html.unescape(part[0]) if part["entity"] else part[0]


def _write(translation: Styled) -> str:
    """Return a translation as a value."""
    return _outlined(translation.written(lambda text: escape(_escaped(text))))


def _write_html(translation: Styled) -> str:
    """Return a translation as HTML in a CDATA section."""
    return _write(translation).replace("]]>", "]]]]><![CDATA[>")


def _write_cdata(translation: Styled) -> str:
    """Return a translation as a CDATA section without HTML."""
    return _outlined(translation.written(_escaped)).replace("]]>", "]]]]><![CDATA[>")


def _escaped(text: str) -> str:
    """Return a text with Android's escapes; of several spaces, all but the first are escaped, as they would be lost."""
    return re.sub("(?<= ) ", r"\\u0020", text.translate(_ESCAPES))


def _outlined(value: str) -> str:
    """Return a value with what would be lost or misread at its ends escaped."""
    value = re.sub(r"\A |(?<!\A) \Z", r"\\u0020", value)
    return f"\\{value}" if value.startswith(("@", "?")) else value
