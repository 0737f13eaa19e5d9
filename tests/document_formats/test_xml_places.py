"""XML with places: the same elements and texts as ElementTree finds, and each place holds what it should."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from catalogues import real_texts
from hypothesis import given
from hypothesis import strategies as st

from manyheads.documents import xml_places
from manyheads.documents.lines import Lines
from manyheads.documents.xml_places import Element, XmlText, read_xml
from manyheads.errors import ManyheadsError

PARTS = (
    "text", "日本 é 🎉", "\n", "&lt;&amp;&#233;", "<b>bold</b>", "<b/>", "<b />", "<b></b >",
    "<x:b x:ä='1' c=\"'>\">ü</x:b>",
    "<![CDATA[<a>&lt;]]>", "<![CDATA[]]>", "<!-- ü <a> -->", "<?do ü?>", "<c>\n<d>é</d> </c>",
)  # fmt: skip


def parts_of(element: Element) -> Iterator[Element | XmlText]:
    """Yield everything in an element, in order."""
    for child in element.children:
        yield child
        if isinstance(child, Element):
            yield from parts_of(child)


def require_places(whole: str, root: Element) -> None:
    """Fail where a place does not hold what it should."""
    lines = Lines(whole)
    for element in (root, *(part for part in parts_of(root) if isinstance(part, Element))):
        raw = whole[element.start : element.end]
        content = whole[element.content_start : element.content_end]
        assert raw.startswith(f"<{element.name}") and raw.endswith(">")
        if element.is_empty_tag:
            assert raw.endswith("/>") and not element.children and not content
        else:
            assert whole[element.content_end : element.end].rstrip(" >") == f"</{element.name}"
            assert content == "".join(whole[child.start : child.end] for child in element.children)
        assert lines.number(element.start) == element.line


@given(st.lists(st.sampled_from(PARTS)), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_everything_has_its_place(parts: list[str], newline: str, mark: str):
    body = "".join(parts)
    whole = f'{mark}<?xml version="1.0" encoding="latin-1"?>\n<!-- é -->\n<a xmlns:x="u">{body}</a>\n<!-- é -->\n'
    whole = whole.replace("\n", newline)
    root = read_xml(whole)
    require_places(whole, root)
    declared = whole.replace('encoding="latin-1"', "").removeprefix(mark)
    theirs = ElementTree.fromstring(declared.encode())
    ours = [part.local_name for part in parts_of(root) if isinstance(part, Element)]
    assert ours == [element.tag.rpartition("}")[2] for element in theirs.iter()][1:]
    assert root.text() == "".join(theirs.itertext())


def test_real_files_have_their_places():
    for text in (real_texts("*.xlf") | real_texts("*.tmx.gz")).values():
        require_places(text, read_xml(text))


def test_attributes_are_decoded():
    root = read_xml('<a b=\'x &amp; "y"\' c:d="é"/>')
    assert root.attributes == {"b": 'x & "y"', "c:d": "é"}


def test_a_document_type_without_entities_is_read_past():
    assert read_xml('<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx/>').line == 2


def test_limits_are_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(xml_places, "MOST_PARTS", 10)
    read_xml(f"<a>{'<b/>' * 9}</a>")
    with pytest.raises(ManyheadsError, match=r"^line 1: .* more than 10 elements"):
        read_xml(f"<a>{'<b/>' * 10}</a>")
    monkeypatch.setattr(xml_places, "LARGEST", 10)
    with pytest.raises(ManyheadsError, match="has 11 characters, and at most 10"):
        read_xml("<aaaaaaaa/>")


def test_the_line_of_a_mistake_is_said():
    with pytest.raises(ManyheadsError, match=r"^line 3: this XML cannot be read \(mismatched tag\)"):
        read_xml("<a>\n<b>\n</a>")
