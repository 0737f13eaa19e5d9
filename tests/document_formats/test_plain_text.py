"""Plain text: every line is a segment, and the document keeps its lines, spaces and line ends."""

from __future__ import annotations

import pytest
from catalogues import translated, unchanged
from hypothesis import given
from hypothesis import strategies as st

from manyheads.documents import slots
from manyheads.documents.interface import Filling, Styled
from manyheads.documents.plain_text import LONGEST_LINE, read_plain_text
from manyheads.errors import ManyheadsError

LINES = ("", " ", "\t", "a line", "  indented", "trailing \t", "日本 🎉 é", "\x0b", "\u2028", "a\u2028b")


@given(st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\r\n", "\r", ""]))))
def test_every_line_with_text_is_a_segment(parts: list[tuple[str, str]]):
    text = "".join(line + end for line, end in parts)
    document = read_plain_text(text, language="de")
    own = document.fill([segment.source for segment in document.segments], Filling())
    assert unchanged(document) | {own} == {text}
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [(one.line, one.source.text) for one in document.segments] == [
        (number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()
    ]
    assert translated(document) == text.upper()


def test_a_line_break_in_a_translation_becomes_a_space():
    assert read_plain_text("a\n", language=None).fill([Styled("b\r\nc\nd")], Filling()) == "b c d\n"


def test_a_line_of_any_length_is_refused():
    with pytest.raises(ManyheadsError, match=r"^line 2: this line has 1,048,577 characters, and at most 1,048,576"):
        read_plain_text("a\n" + "x" * (LONGEST_LINE + 1), language=None)


def test_more_texts_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slots, "MOST_SEGMENTS", 3)
    assert len(read_plain_text("a\n" * 3, language=None).segments) == 3
    with pytest.raises(ManyheadsError, match=r"^line 4: this document has more than 3 texts\. Divide it"):
        read_plain_text("a\n" * 4, language=None)
