"""Sentences are found where they are, and everything between them comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.decoding.sentences import outline
from manyheads.errors import ManyheadsError

PROSE = st.text(alphabet="aB1é中。.!?…, \n\t\r\xa0\"')", max_size=80)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("He said “Stop.” She did.", ["He said “Stop.”", "She did."]),
        ("Dr. Who met J. R. Tolkien in St. Ives.", ["Dr. Who met J. R. Tolkien in St. Ives."]),
        ("Am 15. November 2026. Dann nicht.", ["Am 15. November 2026.", "Dann nicht."]),
        ("Version 2.5 is here. Get it.", ["Version 2.5 is here.", "Get it."]),
        ("a… and then", ["a… and then"]),
        ("这是一句。这是另一句！好吗？", ["这是一句。", "这是另一句！", "好吗？"]),
        ("first line\nsecond line\tcell", ["first line", "second line", "cell"]),
        ("   \n\n", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(text, sentences):
    assert outline(text, longest=500).sentences == sentences


@LAW
@given(PROSE)
def test_filling_in_the_sentences_themselves_gives_the_text(text):
    found = outline(text, longest=500)
    assert found.fill(found.sentences) == text


@LAW
@given(PROSE)
def test_what_stands_between_sentences_is_white_space(text):
    found = outline(text, longest=500)
    assert all(gap.strip() == "" for gap in found.gaps)
    assert all(sentence and sentence == sentence.strip() for sentence in found.sentences)


@LAW
@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=9), min_size=1, max_size=30))
def test_a_long_sentence_is_cut_between_words(words):
    text = " ".join(words)
    found = outline(text, longest=10)
    assert found.fill(found.sentences) == text
    assert all(len(sentence) <= 10 for sentence in found.sentences)
    assert [word for sentence in found.sentences for word in sentence.split()] == words


def test_full_stops_in_a_row_are_one_end():
    assert outline("a..... B?!? C", longest=500).sentences == ["a.....", "B?!?", "C"]


def test_a_word_that_is_too_long_is_refused():
    with pytest.raises(ManyheadsError, match="a word of more than 10 characters"):
        outline("short " + "x" * 11, longest=10)
