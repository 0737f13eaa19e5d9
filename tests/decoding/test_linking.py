"""The attention of the model links words, and inline tags go with their words."""

from __future__ import annotations

import pytest

from manyheads.decoding.text.linking import links
from manyheads.decoding.text.styled import translate_styled
from manyheads.decoding.translator import Translator
from manyheads.documents.interface import Styled, Tag
from manyheads.documents.split_text import SplitText
from manyheads.documents.tag_placing import has_tags_within


def words(source: str, output: str, found) -> list[tuple[str, str]]:
    return [(source[slice(*link.source)], output[slice(*link.target)]) for link in found]


def test_a_word_is_linked_with_the_word_that_its_tokens_look_at_most():
    source, output = "a black dog", "ein schwarzer Hund"
    attention = [  # of ein, schwarz, er, Hund and the end, to a, bl, ack, dog and the end
        [0.9, 0.1, 0.0, 0.0, 0.0],
        [0.4, 0.3, 0.3, 0.0, 0.0],
        [0.3, 0.3, 0.3, 0.1, 0.0],
        [0.0, 0.0, 0.0, 0.4, 0.6],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ]
    found = links(source, [1, 4, 7, 11], output, [3, 11, 13, 18], attention)
    assert words(source, output, found) == [("a", "ein"), ("black", "schwarzer"), ("dog", "Hund")]


def test_without_words_or_tokens_nothing_is_linked():
    assert links("…", [1], "wort", [4], [[1.0]]) == []
    assert links("word", [], "", [], []) == []


def test_only_sentences_with_a_tag_between_their_characters_need_the_attention():
    text = Styled("One two. Three four.", (Tag(0, "open", "<b>"), Tag(8, "close", "</b>"), Tag(15, "atom", "<br>")))
    assert has_tags_within(text, SplitText(["One two.", "Three four."], ["", " ", ""])) == [False, True]


@pytest.mark.parametrize("engine", ["ctranslate2", "torch"])
def test_tags_go_with_their_words(engine):
    """English has the day at the end, so the share of the way would not find it."""
    translator = Translator(engine=engine)
    text = "Gestern habe ich ein rotes Auto gekauft."
    tags = (Tag(0, "open", "<b>"), Tag(len("Gestern"), "close", "</b>"))
    ((output, _),) = translate_styled(translator, [Styled(text, tags)], to="en", source="de", language="en")
    begin, end = (tag.offset for tag in output.tags)
    assert output.text[begin:end] == "yesterday"
