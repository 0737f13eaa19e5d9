"""HTML as a document: blocks are segments, and everything else stays to the last character."""

from __future__ import annotations

import pytest
from catalogues import translated, unchanged
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from helpers import LAW
from manyheads.documents.html import LARGEST, read_html
from manyheads.errors import ManyheadsError

PAGE = """<!DOCTYPE html>\r\n<html lang="en">
<head><title>A page</title><style>p { color: red }</style><script>if (a < b) {}</script></head>
<body class=x>
  <h1>  Tom &amp; Ann&nbsp;2 </h1>
  <p>One <b>bold
     word</b> and <code>code</code>.<br>Next line &copy; all</p>
  <ul><li>first<li>second</ul>
  <pre>  as it is  </pre><p translate="no">Name</p><p class="notranslate">Name</p>
  <table><tr><td>1</td><td>cell</td></tr></table><!-- a comment --><textarea>text</textarea>
</body>
"""
ANYTHING = st.text(alphabet="<>/!-?&;=\"'ab# \n\r", max_size=60)


def test_segments_are_blocks_with_letters_as_a_reader_sees_them():
    document = read_html(PAGE, language="de")
    assert [segment.source.text for segment in document.segments] == [
        "A page", "Tom & Ann\xa02", "One bold word and .", "Next line © all", "first", "second", "cell"
    ]  # fmt: skip
    assert [segment.line for segment in document.segments] == [3, 5, 6, 7, 8, 8, 10]
    assert document.languages == ("en", "de")


def test_a_page_with_its_own_texts_is_the_same_and_a_translation_is_where_lxml_finds_it():
    document = read_html(PAGE, language="de")
    assert unchanged(document) == {PAGE}
    assert document.fill([segment.source for segment in document.segments], filling=None) == PAGE
    before, after = html.fromstring(PAGE), html.fromstring(translated(document))
    assert [element.tag for element in after.iter()] == [element.tag for element in before.iter()]
    for path in ("//title", "//h1", "//p/b", "//li", "//td"):
        texts = [element.text.upper().split() for element in before.xpath(path)]
        assert [element.text.split() for element in after.xpath(path)] == texts
    for path in ("//code", "//pre", "//style", "//script", "//textarea", "//p[@translate or @class]"):
        assert [e.text for e in after.xpath(path)] == [e.text for e in before.xpath(path)]


@LAW
@given(ANYTHING)
def test_any_text_with_its_own_texts_is_the_same(text):
    document = read_html(text, language=None)
    assert unchanged(document) == {text}
    assert document.fill([segment.source for segment in document.segments], filling=None) == text


@pytest.mark.parametrize("text", ["<p>" * 20_000 + "a", "a" * 2_000_000, "<b>" * 20_000 + "a", "<" * 200_000])
def test_long_and_deep_pages_are_read(text):
    assert unchanged(read_html(text, language=None)) == {text}


def test_a_page_that_is_too_long_is_one_sentence():
    with pytest.raises(
        ManyheadsError, match=f"this page has {LARGEST + 1:,} characters, and at most {LARGEST:,} are read"
    ):
        read_html("a" * (LARGEST + 1), language=None)
