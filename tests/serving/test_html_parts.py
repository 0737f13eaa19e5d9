"""Any text is read as HTML: nothing is lost, nothing fails, and no repetition is read again and again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.documents.html_parts import html_parts, unescaped

SIZE = 200_000
REPEATED = (
    "<a ",
    '<a b="',
    "<a b='>",
    '<a b=">"',
    "<a b=c",
    "<!--",
    "<![",
    "<![CDATA[>",
    "<?",
    "</a ",
    "</",
    "<",
    "&a",
    "&#1",
    "<script>",
    "<script><!--",
    "</script",
    "<a b >",
    "<a\t",
)


def read(markup: str) -> list[tuple[str, str]]:
    return [(part.kind, part.raw) for part in html_parts(markup)]


@LAW
@given(st.text(alphabet="<>/!-?&;=\"'ab# \n[]", max_size=60))
def test_the_parts_of_any_text_are_that_text(markup):
    assert "".join(raw for _, raw in read(markup)) == markup


@pytest.mark.parametrize("end", ["", ">", '">', "-->"])
@pytest.mark.parametrize("repeated", REPEATED)
def test_a_long_repetition_is_read_to_its_end(repeated, end):
    markup = repeated * (SIZE // len(repeated)) + end
    assert "".join(raw for _, raw in read(markup)) == markup


@pytest.mark.parametrize(
    ("markup", "parts"),
    [
        ("a <b>c</b>", [("text", "a "), ("start", "<b>"), ("text", "c"), ("end", "</b>")]),
        ('<a title="x > y">', [("start", '<a title="x > y">')]),
        ("<a title='\">'>", [("start", "<a title='\">'>")]),
        ('<a title="x>y', [("start", '<a title="x>'), ("text", "y")]),
        ("<a b=c>d", [("start", "<a b=c>"), ("text", "d")]),
        ("1 < 2 <3 > 1", [("text", "1 < 2 <3 > 1")]),
        ("a <b and c", [("text", "a "), ("text", "<b and c")]),
        ('a <b c=">" d', [("text", "a "), ("comment", '<b c=">" d')]),
        ("<!-- a > b -->c", [("comment", "<!-- a > b -->"), ("text", "c")]),
        ("<!-->c", [("comment", "<!-->"), ("text", "c")]),
        ("<!--->c", [("comment", "<!--->"), ("text", "c")]),
        ("<!-- a", [("comment", "<!-- a")]),
        ("<!DOCTYPE html>a", [("declaration", "<!DOCTYPE html>"), ("text", "a")]),
        ("<![ x", [("comment", "<![ x")]),
        ("<![foo[x]]>a", [("comment", "<![foo[x]]>"), ("text", "a")]),
        ("<?xml?>a</>", [("comment", "<?xml?>"), ("text", "a"), ("comment", "</>")]),
        ("<script>a<b></scripts></SCRIPT>", [("start", "<script>"), ("text", "a<b></scripts>"), ("end", "</SCRIPT>")]),
        ("<style>a", [("start", "<style>"), ("text", "a")]),
    ],
)  # fmt: skip
def test_markup_is_read_as_browsers_read_it(markup, parts):
    assert read(markup) == parts


def test_attributes_are_read_with_and_without_quotes():
    (tag,) = html_parts("<a CLASS='x  y' b=\"&lt;\" c=d  e f = g class=z>")
    assert tag.name == "a"
    assert tag.attributes == {"class": "x  y", "b": "<", "c": "d", "e": "", "f": "g"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&#" + "1" * 5000 + ";a", "\ufffda"),
        ("&#x" + "f" * 5000 + "a", "\ufffd"),
        ("&#65;&#x42;&#0000000067;&amp;&eacute;", "ABC&é"),
    ],
    ids=["digits", "hexadecimal", "usual"],
)
def test_references_are_characters(text, expected):
    assert unescaped(text) == expected
